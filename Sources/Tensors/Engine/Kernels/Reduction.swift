import CRetintKernels
import RetintCompiler
import RetintGraph
import RetintTensors

#if canImport(Glibc)
    import Glibc
#endif

/// A reduction over the middle axis of [outer, count, inner].
final class ReductionKernel: Kernel {
    enum Rule {
        case sum
        case mean
        case max
    }

    private let rule: Rule
    private let input: Buffer
    private let output: Buffer
    private let outer: Int
    private let count: Int
    private let inner: Int

    init(name: String, rule: Rule, input: Buffer, output: Buffer, outer: Int, inner: Int) {
        self.rule = rule
        self.input = input
        self.output = output
        self.outer = outer
        self.inner = inner
        count = input.count / Swift.max(outer * inner, 1)
        super.init(name: name, work: input.count)
    }

    /// Whether the threads share the middle axis, because there is only one outer block.
    private var sharesMiddle: Bool { outer == 1 }
    override var phases: Int { sharesMiddle ? 2 : 1 }

    /// Partial sums, in doubles of two floats each.
    override func workspaceCount(threads: Int) -> Int { threads * inner * 2 }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        workspace.withMemoryRebound(to: Double.self, capacity: part.of * inner) { partials in
            let own = partials + part.index * inner
            guard sharesMiddle else {
                for block in part.range(outer) {
                    reduce(input.pointer + block * count * inner, 0..<count, own)
                    finish(own, output.pointer + block * inner)
                }
                return
            }
            if phase == 0 {
                reduce(input.pointer, part.range(count), own)
            } else if part.index == 0 {
                combine(partials, threads: part.of)
                finish(partials, output.pointer)
            }
        }
    }

    private func reduce(
        _ x: UnsafePointer<Float>, _ range: Range<Int>, _ partial: UnsafeMutablePointer<Double>
    ) {
        partial.update(repeating: rule == .max ? -.infinity : 0, count: inner)
        guard rule != .max else { return reduceMax(x, range, partial) }
        if inner == 1 {
            partial[0] = rt_sum(x + range.lowerBound, range.count)
        } else {
            rt_column_sums(partial, x, inner, range.lowerBound, range.upperBound)
        }
    }

    private func reduceMax(
        _ x: UnsafePointer<Float>, _ range: Range<Int>, _ partial: UnsafeMutablePointer<Double>
    ) {
        if inner == 1 {
            partial[0] = Double(rt_max(x + range.lowerBound, range.count))
            return
        }
        for row in range {
            for column in 0..<inner {
                let value = Double(x[row * inner + column])
                if value > partial[column] || value.isNaN { partial[column] = value }
            }
        }
    }

    private func combine(_ partials: UnsafeMutablePointer<Double>, threads: Int) {
        for thread in 1..<Swift.max(threads, 1) {
            for column in 0..<inner {
                let value = partials[thread * inner + column]
                if rule != .max {
                    partials[column] += value
                } else if value > partials[column] || value.isNaN {
                    partials[column] = value
                }
            }
        }
    }

    private func finish(_ sums: UnsafePointer<Double>, _ y: UnsafeMutablePointer<Float>) {
        let scale = rule == .mean ? 1 / Double(count) : 1
        for column in 0..<inner { y[column] = Float(sums[column] * scale) }
    }
}

/// A reduction over axes that are adjacent in memory.
protocol AdjacentReduction: AxisReduction, AlongAxes, KernelOperation {
    static var rule: ReductionKernel.Rule { get }
}

extension AdjacentReduction {
    func kernel(inputs: [Buffer], output: Buffer) -> Kernel {
        let shape = inputs[0].shape
        let order = Layout.axes(rank: shape.rank)
        let reduced = order.indices.filter { axes.isEmpty || axes.contains(order[$0]) }
        let first = reduced.first ?? order.count
        let last = reduced.last.map { $0 + 1 } ?? order.count
        let outer = order[..<first].map { shape[$0] }.reduce(1, *)
        let inner = order[last...].map { shape[$0] }.reduce(1, *)
        return ReductionKernel(
            name: name, rule: Self.rule, input: inputs[0], output: output, outer: outer,
            inner: inner)
    }
}

extension Sum: AdjacentReduction {
    static let rule = ReductionKernel.Rule.sum
}

extension Mean: AdjacentReduction {
    static let rule = ReductionKernel.Rule.mean
}

extension Max: AdjacentReduction {
    static let rule = ReductionKernel.Rule.max
}
