import RetintGraph
import RetintTensors

/// The channels of a value as linear functions of the channels of earlier values at the same pixel.
///
/// Intervals alone take the operands of a sum for independent. What two linear operations compute
/// one after the other, such as 1 × 1 convolutions without an activation between them, is one
/// linear function, whose bounds are narrower.
struct LinearForm {
    /// The factors by the nodes of earlier values: for each channel, one for each of theirs.
    private(set) var factors: [Int: [Double]]
    /// What is added to each channel.
    private(set) var constants: [Double]
    /// How much of each computed channel comes from rounding, at most.
    private(set) var noise: [Double]
    /// The errors of the factors and constants themselves, which are those of float64.
    private var slack: [Double]

    /// Earlier values that a form may have: more are taken as a value of their own.
    private static let mostBases = 4
    /// Products of matrices beyond this size take too long.
    private static let mostProducts = 1 << 30

    private var count: Int { constants.count }

    /// A value as itself.
    init(of id: Int, channels: Int) {
        var identity = [Double](repeating: 0, count: channels * channels)
        for channel in 0..<channels { identity[channel * (channels + 1)] = 1 }
        let zeros = [Double](repeating: 0, count: channels)
        (factors, constants, noise, slack) = ([id: identity], zeros, zeros, zeros)
    }

    /// The bounds that follow from those of the earlier values.
    func bounds(_ bases: [Int: BoundArray]) -> [Bound]? {
        guard factors.keys.allSatisfy({ bases[$0] != nil }) else { return nil }
        return (0..<count).map { channel in
            var sum = WeightedSum(bias: constants[channel])
            var terms = 1
            for (id, matrix) in factors.sorted(by: { $0.key < $1.key }) {
                guard let base = bases[id] else { continue }
                let width = matrix.count / count
                terms += width
                for index in 0..<width {
                    sum.add(TapSums(matrix[channel * width + index]), base.channel(index))
                }
            }
            let own = slack[channel] + sum.magnitude * Double(terms + 2) * 0x1p-52
            let bound = sum.bound
            return Bound(
                exact: bound.exact.widened(by: own),
                computed: bound.computed.widened(by: own + noise[channel]),
                error: (bound.error * (1 + 0x1p-40) + noise[channel] + own).nextUp
            ).tightened
        }
    }
}

// MARK: Operations

extension LinearForm {
    /// With the rounding errors of an operation for each channel.
    func adding(noise other: (Int) -> Double) -> LinearForm {
        var result = self
        for channel in 0..<count {
            result.noise[channel] = (noise[channel] + other(channel)).nextUp
        }
        return result
    }

    /// The sum of two values; nil if it depends on too many others.
    static func + (x: LinearForm, y: LinearForm) -> LinearForm? {
        guard x.count == y.count else { return nil }
        var result = x
        for (id, matrix) in y.factors {
            result.factors[id] = result.factors[id].map { zip($0, matrix).map(+) } ?? matrix
        }
        guard result.factors.count <= mostBases else { return nil }
        for channel in 0..<x.count {
            result.constants[channel] += y.constants[channel]
            result.noise[channel] = (x.noise[channel] + y.noise[channel]).nextUp
            result.slack[channel] = (x.slack[channel] + y.slack[channel]).nextUp
        }
        return result
    }

    /// The channels of a 1 × 1 convolution; nil if they take too long.
    ///
    /// - Parameters:
    ///   - weight: for each channel of the result, one for each of this value.
    ///   - sizes: the largest magnitudes of this value's channels, also of their parts.
    func convolved(_ weight: [Double], bias: [Double], sizes: [Double]) -> LinearForm? {
        let outputs = bias.count
        let width = factors.values.reduce(0) { $0 + $1.count / count }
        guard outputs * count * width <= Self.mostProducts else { return nil }
        var result = self
        result.factors = factors.mapValues { product(weight, outputs, $0) }
        let share = Double(2 * count + 4) * 0x1p-52
        result.constants = bias
        (result.noise, result.slack) = (bias.map { _ in 0 }, bias.map { _ in 0 })
        for output in 0..<outputs {
            for channel in 0..<count {
                let factor = weight[output * count + channel]
                result.constants[output] += factor * constants[channel]
                result.noise[output] += abs(factor) * noise[channel]
                let own = slack[channel] + sizes[channel] * share + abs(constants[channel]) * share
                result.slack[output] += abs(factor) * own
            }
            result.noise[output] *= 1 + share
            result.slack[output] += abs(bias[output]) * share
        }
        return result
    }

    /// - Parameter matrix: for each channel, factors of an earlier value.
    private func product(_ weight: [Double], _ outputs: Int, _ matrix: [Double]) -> [Double] {
        let width = matrix.count / count
        var product = [Double](repeating: 0, count: outputs * width)
        matrix.withUnsafeBufferPointer { matrix in
            product.withUnsafeMutableBufferPointer { product in
                for output in 0..<outputs {
                    for channel in 0..<count {
                        let factor = weight[output * count + channel]
                        guard factor != 0 else { continue }
                        for index in 0..<width {
                            product[output * width + index] +=
                                factor * matrix[channel * width + index]
                        }
                    }
                }
            }
        }
        return product
    }

    /// The sum of the magnitudes of all parts of each channel.
    func sizes(_ bases: [Int: BoundArray]) -> [Double] {
        (0..<count).map { channel in
            factors.reduce(abs(constants[channel])) { size, pair in
                let (width, matrix) = (pair.value.count / count, pair.value)
                guard let base = bases[pair.key] else { return .infinity }
                return (0..<width).reduce(size) { size, index in
                    let factor = abs(matrix[channel * width + index])
                    return factor == 0
                        ? size : size + factor * base.channel(index).both.magnitude
                }
            }
        }
    }
}

/// The linear forms of a graph's values, as far as they have some.
struct LinearForms {
    private var forms: [Int: LinearForm] = [:]
    private var bases: [Int: BoundArray] = [:]

    /// The bounds of a node, improved by its linear form.
    ///
    /// - Parameters:
    ///   - operands: the bounds of its operands.
    ///   - constants: the values of operands that are the same for all inputs.
    ///   - found: the bounds by intervals.
    mutating func improved(
        _ id: Int, _ node: Graph.Node, _ operands: [BoundArray], constants: [[Double]?],
        _ found: BoundArray
    ) -> BoundArray {
        guard let form = form(node, operands, constants, found), let own = form.bounds(bases) else {
            return found
        }
        forms[id] = form
        var result = found
        for index in result.elements.indices {
            let (first, second) = (found.elements[index], own[index])
            result.elements[index] =
                Bound(
                    exact: first.exact.intersection(second.exact),
                    computed: first.computed.intersection(second.computed),
                    error: min(first.error, second.error)
                ).tightened
        }
        return result
    }

    private mutating func form(
        _ node: Graph.Node, _ operands: [BoundArray], _ constants: [[Double]?], _ found: BoundArray
    ) -> LinearForm? {
        guard node.shape.rank == 4, found.isPerChannel else { return nil }
        switch node.operation {
        case is RoundToHalf:
            guard let form = forms[node.inputs[0]] else { return nil }
            return form.adding { Bound.halfUnit(operands[0].channel($0).computed.magnitude) }
        case is Add:
            guard constants.allSatisfy({ $0 == nil }), node.inputs[0] != node.inputs[1],
                let x = form(of: node.inputs[0], operands[0]),
                let y = form(of: node.inputs[1], operands[1]),
                forms[node.inputs[0]] != nil || forms[node.inputs[1]] != nil
            else { return nil }
            return (x + y)?.adding { channel in
                found.channel(channel).both.magnitude * BoundRules.unit * 2 + BoundRules.smallest
            }
        case let operation as Convolution: return convolved(operation, node, operands, constants)
        default: return nil
        }
    }

    private mutating func convolved(
        _ operation: Convolution, _ node: Graph.Node, _ operands: [BoundArray],
        _ constants: [[Double]?]
    ) -> LinearForm? {
        let kernel = operands[1].shape
        let isPlain =
            operation.groups == 1 && kernel[2] == 1 && kernel[3] == 1
            && operation.window == Window()
        guard isPlain, let weight = constants[1], constants.count < 3 || constants[2] != nil,
            let x = form(of: node.inputs[0], operands[0])
        else { return nil }
        let bias =
            constants.count > 2 ? constants[2] ?? [] : [Double](repeating: 0, count: kernel[0])
        let magnitudes = (0..<kernel[1]).map { operands[0].channel($0).both.magnitude }
        let form = x.convolved(weight, bias: bias, sizes: x.sizes(bases))
        let share = Double(kernel[1] + 3) * BoundRules.unit
        return form?.adding { channel in
            let start = channel * kernel[1]
            let size = magnitudes.indices.reduce(abs(bias[channel])) {
                $0 + abs(weight[start + $1]) * magnitudes[$1]
            }
            return size * share / (1 - share) + BoundRules.smallest
        }
    }

    /// The form of an operand; if it has none, as itself.
    private mutating func form(of id: Int, _ bounds: BoundArray) -> LinearForm? {
        if let form = forms[id] { return form }
        guard bounds.shape.count == 4, bounds.isPerChannel else { return nil }
        bases[id] = bounds
        return LinearForm(of: id, channels: bounds.shape[1])
    }
}

extension BoundArray {
    /// Whether all pixels and images share their bounds, and every channel has some of its own.
    var isPerChannel: Bool {
        extents.count == 4 && extents == [1, shape[1], 1, 1]
            && elements.allSatisfy { $0.both.magnitude.isFinite }
    }
}
