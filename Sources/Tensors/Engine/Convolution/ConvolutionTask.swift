import CRetintKernels
import RetintGraph
import RetintTensors

/// A way to compute a convolution or the gradient of one.
enum ConvolutionAlgorithm: String {
    /// Winograd's algorithm with tiles of 2 × 2, 3 × 3 or 4 × 4 outputs; 3 is for stride 2.
    case winograd2, winograd3, winograd4
    /// Dot products along the input channels.
    case fewOutputs = "few_outputs"
    /// Matrix products directly on the image, with weights in panels.
    case panels
    /// The operation's own kernel.
    case direct
}

/// A convolution without groups, or a gradient of one, with everything that the choice of an
/// algorithm depends on.
struct ConvolutionTask {
    enum Kind: String {
        case convolution = "conv2d"
        case transposed = "conv_transpose2d"
        case weightGradient = "conv2d_weight"
    }

    let kind: Kind
    let inputs: [Shape]
    let output: Shape
    let kernel: Pair
    let window: Window

    /// - Returns: nil if there is only one way to compute the operation.
    init?(_ operation: any Operation, _ inputs: [Shape]) {
        guard inputs.count == 2, let output = try? operation.outputShape(for: inputs) else {
            return nil
        }
        (self.inputs, self.output) = (inputs, output)
        switch operation {
        case let convolution as Convolution where convolution.groups == 1:
            (kind, window) = (.convolution, convolution.window)
            kernel = Pair(inputs[1][2], inputs[1][3])
        case let transpose as ConvolutionTranspose where transpose.groups == 1:
            (kind, window) = (.transposed, transpose.window)
            kernel = Pair(inputs[1][2], inputs[1][3])
        case let gradient as ConvolutionWeightGradient where gradient.groups == 1:
            (kind, window, kernel) = (.weightGradient, gradient.window, gradient.kernel)
        default: return nil
        }
    }

    /// A description of the task; equal for tasks that take the same time.
    func key(threads: Int, isFixed: Bool, _ formats: OperandFormats) -> String {
        let padding = window.padding
        return "\(kind.rawValue) \(inputs[0]) \(inputs[1]) to \(output)"
            + " stride \(window.stride.height)x\(window.stride.width)"
            + " dilation \(window.dilation.height)x\(window.dilation.width)"
            + " padding \(padding.top),\(padding.left)"
            + (isFixed ? " fixed" : "") + formats.suffix + " threads \(threads)"
    }

    func tiling(_ tile: Int) -> WinogradTiling? { WinogradTiling(self, tile: tile) }

    /// The algorithms except Winograd's, the one expected to be faster first.
    var directAlgorithms: [ConvolutionAlgorithm] {
        if kind == .weightGradient { return [.direct] }
        var result: [ConvolutionAlgorithm] = []
        if kind == .convolution, output[1] <= RT_FEW, inputs[0][1] >= 16 {
            result.append(.fewOutputs)
        }
        let fitsPanels = kernel.height * kernel.width <= RT_MOST_TAPS
        return result + [fitsPanels ? .panels : .direct]
    }

    /// Weights per kernel element that make the gradient's transforms worthwhile.
    private static let manyWeights = 64 * 64

    /// The tiles of Winograd's algorithm. Tiles of 4 × 4 outputs have errors of 1 % of the
    /// result and more in bfloat16.
    private func tilings(_ formats: OperandFormats) -> [WinogradTiling] {
        let sides = formats.products == RT_BFLOAT16 ? [3, 2] : [4, 3, 2]
        return sides.compactMap { tiling($0) }
    }

    /// The tile of Winograd's algorithm, if that is expected to be the fastest; nil if
    /// another algorithm is.
    private func expectedTile(_ formats: OperandFormats) -> Int? {
        let isLarge = output[0] * output[1] >= Self.manyWeights
        guard kind != .weightGradient || isLarge, directAlgorithms[0] != .fewOutputs else {
            return nil
        }
        return tilings(formats).filter { $0.cost < $0.directCost }.min { $0.cost < $1.cost }?.tile
    }

    /// All algorithms for the task, the one expected to be the fastest first.
    func algorithms(
        _ winograd: CompileOptions.Winograd, _ formats: OperandFormats
    ) -> [ConvolutionAlgorithm] {
        let tiles = tilings(formats).sorted { $0.cost < $1.cost }.map(\.algorithm)
        switch winograd {
        case .never: return directAlgorithms
        case .wherePossible: return tiles + directAlgorithms
        case .whereFaster:
            let isFaster = expectedTile(formats) != nil
            return isFaster ? tiles + directAlgorithms : directAlgorithms + tiles
        }
    }
}

extension OperandFormats {
    /// Distinguishes the keys of tasks in different formats.
    fileprivate var suffix: String {
        guard stored.isHalf else { return "" }
        let name = stored == RT_FLOAT16 ? "float16" : "bfloat16"
        return products.isHalf ? " in \(name)" : " of \(name)"
    }
}
