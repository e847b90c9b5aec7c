import CRetintOpenBLAS
import Dispatch

/// A matrix in memory, row by row, perhaps read as its transpose.
struct Float64Matrix {
    let pointer: UnsafePointer<Double>
    /// The distance between rows as they are stored.
    let stride: Int
    var isTransposed = false

    fileprivate func place(_ row: Int, _ column: Int) -> Int {
        isTransposed ? column * stride + row : row * stride + column
    }
}

/// Adds the product of x, [rows, inner], and y, [inner, columns], to a matrix.
func multiply(
    _ x: Float64Matrix, _ y: Float64Matrix, rows: Int, inner: Int, columns: Int,
    addingTo result: UnsafeMutablePointer<Double>, stride: Int, _ steps: Steps = .exact
) {
    guard rows > 0, columns > 0, inner > 0 else { return }
    if let rounding = steps.term, let arithmetic = steps.arithmetic {
        SteppedProduct(
            x: x, y: y, rows: rows, columns: columns, plan: steps.plan(inner),
            rounding: rounding, fuses: arithmetic.fusesProducts
        ).add(to: result, stride: stride, threads: steps.threads)
        return
    }
    cblas_dgemm(
        CblasRowMajor, x.isTransposed ? CblasTrans : CblasNoTrans,
        y.isTransposed ? CblasTrans : CblasNoTrans, Int32(rows), Int32(columns), Int32(inner), 1,
        x.pointer, Int32(x.stride), y.pointer, Int32(y.stride), 1, result, Int32(stride))
}

/// A product of matrices whose products and partial sums are rounded. The sums of a row are added
/// side by side, a number of columns at a time.
private struct SteppedProduct {
    let x: Float64Matrix
    let y: Float64Matrix
    let rows: Int
    let columns: Int
    let plan: SumPlan
    let rounding: Rounding
    /// Whether a product is added without being rounded before.
    let fuses: Bool

    /// The number of columns at a time: their partial sums stay in the cache.
    private static let most = 256

    func add(to result: UnsafeMutablePointer<Double>, stride: Int, threads: Int) {
        let strips = (columns + Self.most - 1) / Self.most
        let (rows, columns) = (rows, columns)
        nonisolated(unsafe) let (product, result) = (self, result)
        let groups = max(1, min(threads, rows * strips))
        DispatchQueue.concurrentPerform(iterations: groups) { group in
            var strip = Strip(product)
            for index in Swift.stride(from: group, to: rows * strips, by: groups) {
                let start = index / rows * Self.most
                strip.load(start..<min(start + Self.most, columns))
                strip.add(row: index % rows, to: result + index % rows * stride + start)
            }
        }
    }

    /// The sums of some columns.
    private struct Strip {
        let product: SteppedProduct
        var columns = 0..<0
        var sums: [Double]
        /// Those columns of y if it is transposed, row by row.
        var copied: [Double] = []

        init(_ product: SteppedProduct) {
            self.product = product
            sums = [Double](repeating: 0, count: product.plan.width * SteppedProduct.most)
        }

        mutating func load(_ range: Range<Int>) {
            guard range != columns else { return }
            columns = range
            guard product.y.isTransposed else { return }
            let count = product.plan.termCount
            copied = []
            copied.reserveCapacity(count * range.count)
            for term in 0..<count {
                for column in range {
                    copied.append(product.y.pointer[product.y.place(term, column)])
                }
            }
        }

        mutating func add(row: Int, to result: UnsafeMutablePointer<Double>) {
            let (product, width) = (product, columns.count)
            let (start, stride) = (columns.lowerBound, product.y.stride)
            let isCopied = product.y.isTransposed
            copied.withUnsafeBufferPointer { copied in
                sums.withUnsafeMutableBufferPointer { sums in
                    guard let sums = sums.baseAddress else { return }
                    func factors(_ term: Int) -> UnsafePointer<Double> {
                        guard isCopied, let base = copied.baseAddress else {
                            return product.y.pointer + term * stride + start
                        }
                        return base + term * width
                    }
                    for step in product.plan.steps {
                        product.perform(step, row, start, width, sums, factors)
                    }
                    product.finish(sums, start, width, addingTo: result)
                }
            }
        }
    }

    @inline(__always)
    private func perform(
        _ step: SumPlan.Step, _ row: Int, _ start: Int, _ width: Int,
        _ sums: UnsafeMutablePointer<Double>, _ factors: (Int) -> UnsafePointer<Double>
    ) {
        switch step {
        case .start(let term, let place):
            let (x, y, sum) = (
                x.pointer[x.place(row, term)], factors(term), sums + place * Self.most
            )
            forEach(width) { index, round in sum[index] = round(x * y[index], start + index) }
        case .add(let term, let place):
            let (x, y, sum) = (
                x.pointer[x.place(row, term)], factors(term), sums + place * Self.most
            )
            if fuses {
                forEach(width) { index, round in
                    sum[index] = round(sum[index] + x * y[index], start + index)
                }
            } else {
                forEach(width) { index, round in
                    let term = round(x * y[index], start + index)
                    sum[index] = round(sum[index] + term, start + index)
                }
            }
        case .merge(let from, let place):
            let (other, sum) = (sums + from * Self.most, sums + place * Self.most)
            forEach(width) { index, round in
                sum[index] = round(sum[index] + other[index], start + index)
            }
        }
    }

    @inline(__always)
    private func finish(
        _ sums: UnsafeMutablePointer<Double>, _ start: Int, _ width: Int,
        addingTo result: UnsafeMutablePointer<Double>
    ) {
        forEach(width) { index, round in
            result[index] = round(result[index] + sums[index], start + index)
        }
    }

    /// One loop for each kind of rounding, so that each becomes vector code.
    @inline(__always)
    private func forEach(
        _ count: Int, _ body: (_ index: Int, _ round: (Double, Int) -> Double) -> Void
    ) {
        let rounding = rounding
        if rounding.isStochastic {
            for index in 0..<count { body(index) { rounding.stochastic($0, $1) } }
        } else {
            for index in 0..<count { body(index) { value, _ in rounding.nearest(value) } }
        }
    }
}
