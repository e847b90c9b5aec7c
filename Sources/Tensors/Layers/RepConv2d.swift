import RetintGraph
import RetintTensors

/// A re-parameterized 3×3 convolution with ReLU (Ding et al., "RepVGG: Making VGG-style ConvNets
/// Great Again", 2021).
///
/// It is trained as the sum of a 3×3 branch, a 1×1 branch and, if input and output have the same
/// shape, the input itself, each with its batch normalization. For inference the sum is one 3×3
/// convolution with a bias, which `foldedState(_:)` computes.
public final class RepConv2d: Module, Layer {
    /// The branches; nil when folded.
    let square, point: Branch?
    let identity: BatchNorm2d?
    /// The one convolution; nil when not folded.
    let reparam: Conv2d?
    private let inputs, outputs: Int

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - inputs: the number of input channels.
    ///   - outputs: the number of output channels.
    ///   - stride: the stride of every branch; the input itself is a branch only with a stride of
    ///     1.
    ///   - isFolded: whether it is the single convolution for inference instead of the branches.
    public init(_ inputs: Int, _ outputs: Int, stride: Pair = 1, isFolded: Bool = false) {
        (self.inputs, self.outputs) = (inputs, outputs)
        let keepsShape = inputs == outputs && stride == 1
        square = isFolded ? nil : Branch(inputs, outputs, kernel: 3, stride: stride)
        point = isFolded ? nil : Branch(inputs, outputs, kernel: 1, stride: stride)
        identity = isFolded || !keepsShape ? nil : BatchNorm2d(outputs)
        reparam =
            isFolded ? Conv2d(inputs, outputs, kernel: 3, stride: stride, padding: 1) : nil
    }

    /// Applies the layer: [N, in, H, W] → [N, out, ⌈H/stride⌉, ⌈W/stride⌉].
    public func forward(_ x: Tensor) -> Tensor {
        if let reparam { return relu(reparam(x)) }
        let branches = [square?(x), point?(x), identity?(x)].compactMap { $0 }
        return relu(branches.dropFirst().reduce(branches[0], +))
    }

    /// A convolution without bias, and its batch normalization.
    final class Branch: Module, Layer {
        let conv: Conv2d
        let norm: BatchNorm2d

        init(_ inputs: Int, _ outputs: Int, kernel: Int, stride: Pair) {
            conv = Conv2d(
                inputs, outputs, kernel: Pair(kernel), stride: stride,
                padding: Padding(kernel / 2), bias: false, initializer: .kaimingNormal(.out))
            norm = BatchNorm2d(outputs)
        }

        func forward(_ x: Tensor) -> Tensor { norm(conv(x)) }
    }
}

extension Module {
    /// Whether there is a ``RepConv2d``, which ``foldedState(_:)`` folds.
    public final var canBeFolded: Bool {
        var found = false
        visit(prefix: "") { _, member in
            if case .module(let module) = member.value { found = found || module is RepConv2d }
        }
        return found
    }

    /// The values of the network with each ``RepConv2d`` folded into one convolution: those of its
    /// branches are replaced by `<module>.reparam.weight` and `.bias`. The folding is exact up to
    /// rounding; it computes in double precision.
    ///
    /// - Parameter values: all variables of this network by name; the network is not folded.
    public final func foldedState(_ values: [String: TensorData]) -> [String: TensorData] {
        var result = values
        visit(prefix: "") { path, member in
            guard case .module(let module) = member.value, let block = module as? RepConv2d else {
                return
            }
            block.fold(path + ".", &result)
        }
        return result
    }
}

extension RepConv2d {
    fileprivate func fold(_ prefix: String, _ values: inout [String: TensorData]) {
        var sum = FoldedKernel(inputs: inputs, outputs: outputs)
        for (name, area) in [("square", 9), ("point", 1)] {
            guard let weight = values["\(prefix)\(name).conv.weight"],
                let norm = Affine(values, "\(prefix)\(name).norm.")
            else { continue }
            sum.add(weight.scalars, area: area, norm)
        }
        if let identity = Affine(values, "\(prefix)identity.") { sum.addIdentity(identity) }
        for name in values.keys where name.hasPrefix(prefix) { values[name] = nil }
        let shape: Shape = [outputs, inputs, 3, 3]
        values["\(prefix)reparam.weight"] = TensorData(
            shape: shape, scalars: sum.weight.map { Float($0) })
        values["\(prefix)reparam.bias"] = TensorData(
            shape: [outputs], scalars: sum.bias.map { Float($0) })
    }

    /// A batch normalization for inference, as scale and shift of each channel: scale·x + shift.
    fileprivate struct Affine {
        let scale, shift: [Double]

        init?(_ values: [String: TensorData], _ prefix: String) {
            let names = ["weight", "bias", "running_mean", "running_var"]
            let found = names.compactMap { values[prefix + $0]?.scalars.map { Double($0) } }
            guard found.count == names.count else { return nil }
            let epsilon = Double(BatchNorm2d(1).epsilon)
            let scale = zip(found[0], found[3]).map { $0 / ($1 + epsilon).squareRoot() }
            self.scale = scale
            shift = scale.indices.map { found[1][$0] - found[2][$0] * scale[$0] }
        }
    }

    fileprivate struct FoldedKernel {
        let inputs: Int
        var weight, bias: [Double]

        init(inputs: Int, outputs: Int) {
            self.inputs = inputs
            weight = [Double](repeating: 0, count: outputs * inputs * 9)
            bias = [Double](repeating: 0, count: outputs)
        }

        /// - Parameter area: 9 for a 3×3 kernel; 1 for a 1×1 kernel, which is added at the center.
        mutating func add(_ kernel: [Float], area: Int, _ norm: Affine) {
            for (index, value) in kernel.enumerated() {
                let (row, tap) = index.quotientAndRemainder(dividingBy: area)
                let position = area == 1 ? 4 : tap
                weight[row * 9 + position] += Double(value) * norm.scale[row / inputs]
            }
            addShift(norm)
        }

        mutating func addIdentity(_ norm: Affine) {
            for (channel, scale) in norm.scale.enumerated() {
                weight[(channel * inputs + channel) * 9 + 4] += scale
            }
            addShift(norm)
        }

        private mutating func addShift(_ norm: Affine) {
            for (channel, shift) in norm.shift.enumerated() { bias[channel] += shift }
        }
    }
}
