import RetintCompiler
import RetintGraph
import RetintTensors

/// Replaces the sum of convolutions of one image with loaded weights by one convolution with the
/// sum of their weights, as networks re-parameterize themselves (RepVGG, MobileOne, FastViT): 3 × 3
/// and 1 × 1, and the image itself, each also normalized or scaled by channel.
struct ParallelConvolutions: GraphPass {
    static let name = "sum parallel convolutions"
    /// Whether a run changes variables.
    let learns: Bool

    func run(on input: GraphPassInput) -> GraphPassResult {
        let (pattern, loaded) = (GraphPattern(input), LoadedValues(learns: learns))
        let merged = { (rewrite: GraphRewrite, id: Int, isScaled: Bool) in
            SumPattern(pattern, of: id, isScaled: isScaled) {
                loaded.contains($0, of: input.graph)
            }.merged(rewrite)
        }
        return GraphRewrite.run(on: input) { rewrite, id in
            let isSum =
                pattern.operation(id, as: Add.self) != nil
                || pattern.operation(id, as: Subtract.self) != nil
            guard isSum, pattern.shape(id).rank == 4 else { return nil }
            // Factors are moved into a sum only if all of it becomes one convolution.
            return merged(rewrite, id, true) ?? merged(rewrite, id, false)
        }
    }
}

/// The summands of a sum.
private struct SumPattern {
    /// A value, or its product with loaded values.
    struct Summand {
        let id: Int
        var factors: [Int] = []
        var isNegated = false

        var isPlain: Bool { factors.isEmpty && !isNegated }
    }

    /// Sums of sums are taken apart to this depth: networks may be long chains of sums.
    private static let mostDepth = 10
    /// The most channels of an image whose identity becomes a dense kernel, of their square.
    private static let mostDenseChannels = 512

    private let pattern: GraphPattern
    private let isScaled: Bool
    private let isLoaded: (Int) -> Bool
    private let shape: Shape
    private var summands: [Summand] = []

    init(
        _ pattern: GraphPattern, of id: Int, isScaled: Bool, isLoaded: @escaping (Int) -> Bool
    ) {
        (self.pattern, self.isScaled, self.isLoaded) = (pattern, isScaled, isLoaded)
        shape = pattern.shape(id)
        summands = self.summands(of: id, depth: 0)
    }

    private func summands(of id: Int, depth: Int) -> [Summand] {
        let inputs = pattern.inputs(id)
        guard depth == 0 || pattern.isUsed(id, 1), depth < Self.mostDepth,
            pattern.shape(id) == shape, !isLoaded(id)
        else { return [Summand(id: id)] }
        if pattern.operation(id, as: Add.self) != nil {
            return inputs.flatMap { summands(of: $0, depth: depth + 1) }
        }
        guard isScaled else { return [Summand(id: id)] }
        if pattern.operation(id, as: Subtract.self) != nil {
            var subtracted = summands(of: inputs[1], depth: depth + 1)
            for index in subtracted.indices { subtracted[index].isNegated.toggle() }
            return summands(of: inputs[0], depth: depth + 1) + subtracted
        }
        if pattern.operation(id, as: Multiply.self) != nil,
            let (x, factor) = pattern.eitherOrder(id).first(where: { isFactor($0.second) })
        {
            var scaled = summands(of: x, depth: depth + 1)
            for index in scaled.indices { scaled[index].factors.append(factor) }
            return scaled
        }
        return [Summand(id: id)]
    }

    /// Whether a value is loaded, and one number per channel or one for all.
    private func isFactor(_ id: Int) -> Bool {
        let factor = pattern.shape(id)
        guard isLoaded(id), factor.rank <= 4 else { return false }
        return factor.count == 1
            || factor.count == shape[1] && factor.rank >= 3 && factor[factor.rank - 3] == shape[1]
    }

    /// A convolution with loaded weights that only the sum needs.
    private func convolution(_ id: Int) -> Convolution? {
        let inputs = pattern.inputs(id)
        guard pattern.isUsed(id, 1), inputs.count == 2, isLoaded(inputs[1]),
            pattern.shape(id) == shape
        else { return nil }
        return pattern.operation(id, as: Convolution.self)
    }

    /// The sum with one convolution; nil if there are not two that can be merged.
    func merged(_ rewrite: GraphRewrite) -> Tensor? {
        let convolutions = summands.filter { convolution($0.id) != nil }
        guard let first = convolutions.first, let operation = convolution(first.id) else {
            return nil
        }
        let image = pattern.inputs(first.id)[0]
        guard
            convolutions.allSatisfy({
                pattern.inputs($0.id)[0] == image
                    && convolution($0.id)?.groups == operation.groups
            })
        else { return nil }
        let takesImage = takesImage(operation, pattern.shape(image), convolutions.count)
        let images = summands.filter { takesImage && $0.id == image }
        let rest = summands.filter {
            convolution($0.id) == nil && !(takesImage && $0.id == image)
        }
        guard convolutions.count + images.count > 1,
            rest.allSatisfy({ $0.isPlain || isLoaded($0.id) })
        else { return nil }
        let x = rewrite.copy(of: image)
        var branches = convolutions.compactMap { branch($0, rewrite) }
        if !images.isEmpty {
            let identity = identityKernel(operation.groups, rewrite)
            branches += images.map {
                Branch(window: Window(), weight: scaled(identity, $0, rewrite))
            }
        }
        guard let whole = Branch.sum(branches, of: x.shape, to: shape) else { return nil }
        let result = conv2d(
            x, weight: whole.weight, stride: whole.window.stride, padding: whole.window.padding,
            groups: operation.groups)
        let biases = rest.filter { isLoaded($0.id) }.map { product($0, rewrite) }
        let others = rest.filter { !isLoaded($0.id) }.map { rewrite.copy(of: $0.id) }
        let bias = biases.dropFirst().reduce(biases.first) { sum, next in sum.map { $0 + next } }
        return others.reduce(bias.map { result + $0 } ?? result, +)
    }

    /// Whether the image itself can be a kernel too. Beside a single dense convolution, which
    /// may be computed less accurately than a sum, it stays a summand.
    private func takesImage(_ operation: Convolution, _ image: Shape, _ count: Int) -> Bool {
        let isSmall =
            operation.groups == shape[1]
            || count > 1 && shape[1] <= Self.mostDenseChannels
        return image == shape && operation.window.stride == 1 && isSmall
    }

    private func branch(_ summand: Summand, _ rewrite: GraphRewrite) -> Branch? {
        convolution(summand.id).map {
            let weight = rewrite.copy(of: pattern.inputs(summand.id)[1])
            return Branch(window: $0.window, weight: scaled(weight, summand, rewrite))
        }
    }

    /// The 1 × 1 kernel that copies its image.
    private func identityKernel(_ groups: Int, _ rewrite: GraphRewrite) -> Tensor {
        let (channels, inputs) = (shape[1], shape[1] / groups)
        let scalars = (0..<channels * inputs).map { $0 / inputs % inputs == $0 % inputs }
        return rewrite.target.constant(
            TensorData(shape: [channels, inputs, 1, 1], scalars: scalars.map { $0 ? 1 : 0 }))
    }

    /// A kernel times the factors of its summand.
    private func scaled(_ kernel: Tensor, _ summand: Summand, _ rewrite: GraphRewrite) -> Tensor {
        let product = summand.factors.reduce(kernel) { product, factor in
            let value = rewrite.copy(of: factor)
            return product * value.reshaped([value.shape.count, 1, 1, 1])
        }
        return summand.isNegated ? -product : product
    }

    /// A loaded summand times its factors.
    private func product(_ summand: Summand, _ rewrite: GraphRewrite) -> Tensor {
        let value = summand.factors.reduce(rewrite.copy(of: summand.id)) {
            $0 * rewrite.copy(of: $1)
        }
        return summand.isNegated ? -value : value
    }
}

/// The kernels of a convolution, and where they are applied.
private struct Branch {
    var window: Window
    var weight: Tensor

    private var kernel: Pair { Pair(weight.shape[2], weight.shape[3]) }

    /// One convolution instead of several; nil if their kernels do not read the same pixels.
    static func sum(_ branches: [Branch], of x: Shape, to y: Shape) -> Branch? {
        let stride = branches[0].window.stride
        guard
            branches.allSatisfy({
                $0.window.stride == stride && ($0.window.dilation == 1 || $0.kernel == 1)
            })
        else { return nil }
        let top = branches.map(\.window.padding.top).max() ?? 0
        let left = branches.map(\.window.padding.left).max() ?? 0
        let height = branches.map { top - $0.window.padding.top + $0.kernel.height }.max() ?? 1
        let width = branches.map { left - $0.window.padding.left + $0.kernel.width }.max() ?? 1
        let weights = branches.map { branch in
            let (kernel, padding) = (branch.kernel, branch.window.padding)
            let (above, before) = (top - padding.top, left - padding.left)
            return branch.weight.padded(
                before: [0, 0, above, before],
                after: [0, 0, height - above - kernel.height, width - before - kernel.width])
        }
        let padding = Padding(
            top: top, bottom: max((y[2] - 1) * stride.height + height - x[2] - top, 0), left: left,
            right: max((y[3] - 1) * stride.width + width - x[3] - left, 0))
        return Branch(
            window: Window(stride: stride, padding: padding),
            weight: weights.dropFirst().reduce(weights[0], +))
    }
}
