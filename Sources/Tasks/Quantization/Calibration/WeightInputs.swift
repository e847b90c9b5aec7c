import RetintEngine

/// The observed inputs of a weight: second moments over the calibration photos, per part of the
/// weight.
struct WeightInputs {
    typealias Part = (part: WeightPart, moments: Moments)

    private let parts: [Part]

    /// First and second moments of the inputs of a part of a weight, summed over patches.
    struct Moments {
        private(set) var count = 0
        private(set) var sums: [Double]
        /// Sums of the products of each pair of features; upper triangle only.
        private(set) var products: DenseMatrix

        init(features: Int) {
            sums = [Double](repeating: 0, count: features)
            products = DenseMatrix(rows: features, columns: features)
        }

        /// - Parameter patches: [patches, features].
        mutating func add(_ patches: DenseMatrix) {
            count += patches.rows
            for row in 0..<patches.rows {
                for column in sums.indices { sums[column] += Double(patches[row, column]) }
            }
            products.addGram(of: patches)
        }

        func mean(_ feature: Int) -> Float { Float(sums[feature] / Double(max(count, 1))) }

        /// The covariance of the features, or their second moments about zero; upper triangle only.
        func secondMoments(aroundMean: Bool) -> DenseMatrix {
            var result = products
            let features = sums.count
            for row in 0..<features {
                let mean = aroundMean ? sums[row] / Double(max(count, 1)) : 0
                for column in row..<features {
                    let product = Double(result[row, column]) - mean * sums[column]
                    result[row, column] = Float(product / Double(max(count, 1)))
                }
            }
            return result
        }
    }

    /// The Hessian of the output's squared error for each part: the second moments of its inputs.
    /// If a bias can absorb the mean error, the moments are taken about the mean.
    private let costs: [DenseMatrix]
    private let feedbacks: [ErrorFeedback]

    /// - Parameter correctsBias: whether a bias can absorb the mean error of the output.
    init(_ parts: [Part], correctsBias: Bool) {
        self.parts = parts
        costs = parts.map { $0.moments.secondMoments(aroundMean: correctsBias) }
        feedbacks = zip(parts, costs).map { Self.feedback($0.part, $1) }
    }

    /// The cost of a squared error in each element of the weight: the damped diagonal of the
    /// Hessian; above 0.
    func importance(count: Int) -> [Float] {
        var result = [Float](repeating: 0, count: count)
        for (entry, cost) in zip(parts, costs) {
            let floor = Self.damping(cost)
            for (index, feature) in entry.part.features.enumerated() {
                for row in entry.part.rows { result[row + feature] = cost[index, index] + floor }
            }
        }
        return result
    }

    /// 1 % of the mean of the diagonal, so that rarely active inputs keep the Hessian invertible.
    private static func damping(_ cost: DenseMatrix) -> Float {
        let trace = (0..<cost.rows).reduce(Float(0)) { $0 + cost[$1, $1] }
        return max(0.01 * trace / Float(max(cost.rows, 1)), .leastNormalMagnitude)
    }

    /// Replaces the elements of the weight one after another. After each replacement the remaining
    /// elements are adjusted to compensate as much of the output error as possible (Frantar et al.,
    /// "GPTQ", 2022; Hassibi & Stork, "Optimal Brain Surgeon", 1993).
    func rounding(_ values: [Float], _ replacement: (Float, _ index: Int) -> Float) -> [Float] {
        var result = values
        for feedback in feedbacks { feedback.round(&result, replacement) }
        return result
    }

    private static func feedback(_ part: WeightPart, _ cost: DenseMatrix) -> ErrorFeedback {
        var damping = damping(cost)
        let order = (0..<cost.rows).sorted { cost[$0, $0] > cost[$1, $1] }
        let sorted = cost.reordered(order)
        var factor = sorted.inverseFactor(damping: damping)
        for _ in 0..<8 where factor == nil {
            damping *= 10
            factor = sorted.inverseFactor(damping: damping)
        }
        return ErrorFeedback(part: part, order: order, factor: factor)
    }

    /// The negated change of each output channel's mean caused by replacing `old` by `new`, to be
    /// added to the bias.
    func biasCorrection(from old: [Float], to new: [Float], channels: Int) -> [Float] {
        var result = [Double](repeating: 0, count: channels)
        var shares = [Double](repeating: 0, count: channels)
        for (part, moments) in parts {
            for (row, channel) in zip(part.rows, part.channels) {
                for (index, feature) in part.features.enumerated() {
                    let change = old[row + feature] - new[row + feature]
                    result[channel] += Double(moments.mean(index) * change)
                }
                shares[channel] += 1
            }
        }
        return zip(result, shares).map { Float($0 / max($1, 1)) }
    }

    /// The signal and noise power of the output, summed over channels and averaged over positions.
    func outputPower(of values: [Float], changedTo new: [Float]) -> (signal: Double, noise: Double)
    {
        var power = (signal: 0.0, noise: 0.0)
        for (entry, cost) in zip(parts, costs) {
            let weight = entry.part.matrix(values)
            var error = weight
            let other = entry.part.matrix(new)
            for index in error.scalars.indices { error.scalars[index] -= other.scalars[index] }
            power.signal += cost.quadraticForm(weight)
            power.noise += max(cost.quadraticForm(error), 0)
        }
        return power
    }
}

extension WeightPart {
    /// The elements of this part as a matrix [features, output channels].
    func matrix(_ values: [Float]) -> DenseMatrix {
        var matrix = DenseMatrix(rows: features.count, columns: rows.count)
        for (row, feature) in features.enumerated() {
            for (column, start) in rows.enumerated() {
                matrix[row, column] = values[start + feature]
            }
        }
        return matrix
    }
}

extension DenseMatrix {
    /// The symmetric matrix with its rows and columns permuted; upper triangle only.
    fileprivate func reordered(_ order: [Int]) -> DenseMatrix {
        var result = DenseMatrix(rows: rows, columns: columns)
        for (row, first) in order.enumerated() {
            for column in row..<columns {
                let second = order[column]
                result[row, column] = first <= second ? self[first, second] : self[second, first]
            }
        }
        return result
    }
}
