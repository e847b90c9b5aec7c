import RetintCompiler
import RetintGraph
import RetintTensors

/// Replaces the sum of convolutions of one image with loaded weights by one convolution with the
/// sum of their weights, as networks re-parameterize themselves (RepVGG, MobileOne): 3 × 3 and
/// 1 × 1, and the image itself beside a depthwise convolution.
struct ParallelConvolutions: GraphPass {
    static let name = "sum parallel convolutions"
    /// Whether a run changes variables.
    let learns: Bool

    func run(on input: GraphPassInput) -> GraphPassResult {
        let (pattern, loaded) = (GraphPattern(input), LoadedValues(learns: learns))
        return GraphRewrite.run(on: input) { rewrite, id in
            guard pattern.operation(id, as: Add.self) != nil else { return nil }
            var sum = ParallelSum(shape: pattern.shape(id))
            sum.collect(id, depth: 0, pattern) {
                loaded.contains($0, of: input.graph)
            }
            return sum.merged(rewrite)
        }
    }
}

/// The summands of a sum, where convolutions are those with loaded weights that only the sum needs.
private struct ParallelSum {
    let shape: Shape
    private var convolutions: [(operation: Convolution, x: Int, weight: Int)] = []
    private var others: [Int] = []

    init(shape: Shape) {
        self.shape = shape
    }

    /// Sums of sums are taken apart to this depth: networks may be long chains of sums.
    private static let mostDepth = 8

    mutating func collect(
        _ id: Int, depth: Int, _ pattern: GraphPattern, _ isLoaded: (Int) -> Bool
    ) {
        let (inputs, isOwn) = (pattern.inputs(id), depth == 0 || pattern.isUsed(id, 1))
        if isOwn, depth < Self.mostDepth, pattern.operation(id, as: Add.self) != nil,
            pattern.shape(id) == shape
        {
            for input in inputs { collect(input, depth: depth + 1, pattern, isLoaded) }
        } else if isOwn, let operation = pattern.operation(id, as: Convolution.self),
            inputs.count == 2, isLoaded(inputs[1]), pattern.shape(id) == shape
        {
            convolutions.append((operation, inputs[0], inputs[1]))
        } else {
            others.append(id)
        }
    }

    /// The sum with one convolution; nil if there are not two that can be merged.
    func merged(_ rewrite: GraphRewrite) -> Tensor? {
        guard let first = convolutions.first else { return nil }
        let x = rewrite.copy(of: first.x)
        var branches = convolutions.map {
            Branch(window: $0.operation.window, weight: rewrite.copy(of: $0.weight))
        }
        var rest = others
        let isDepthwise = first.operation.groups == x.shape[1] && shape[1] == x.shape[1]
        if isDepthwise, x.shape == shape, first.operation.window.stride == 1,
            let identity = rest.firstIndex(of: first.x)
        {
            let one = rewrite.target.constant(1).broadcast(to: [shape[1], 1, 1, 1])
            branches.append(Branch(window: Window(), weight: one))
            rest.remove(at: identity)
        }
        let isOne = convolutions.allSatisfy {
            $0.x == first.x && $0.operation.groups == first.operation.groups
        }
        guard isOne, branches.count > 1, let whole = Branch.sum(branches, of: x.shape, to: shape)
        else { return nil }
        let result = conv2d(
            x, weight: whole.weight, stride: whole.window.stride, padding: whole.window.padding,
            groups: first.operation.groups)
        return rest.reduce(result) { $0 + rewrite.copy(of: $1) }
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
