import CRetintKernels
import RetintCompiler
import RetintGraph

/// Convolution as a product of patches (im2col) and weights.
///
/// Weights are stored as [O, KH, KW, I], so a patch, (kh, kw, channel), is multiplied by contiguous
/// rows. With `flips`, the weights are those of a transposed convolution of stride 1,
/// [I, KH, KW, O], and are rotated by 180° first.
final class PatchConvolutionKernel: FusingKernel {
    private enum Phase {
        case flip
        case patches
        case tiles
        case columns
        case epilogue
    }

    /// A tile of patches has about this many floats: enough rows to amortize the packing of the
    /// weights, few enough to stay in the cache.
    private static let tileFloats = 1 << 21
    private static let tileRows = 1024
    /// With fewer rows for each thread, the threads share output channels instead.
    private static let rowsPerThread = 192

    private let x: Buffer
    private let weight: Buffer
    private let output: Buffer
    private let geometry: rt_conv
    private let flips: Bool
    private var plan: [Phase] = []

    private let rows: Int
    private let outputs: Int
    private let groups: Int
    private let groupInputs: Int
    private let patch: Int

    init(
        name: String, geometry: rt_conv, x: Buffer, weight: Buffer, output: Buffer,
        flips: Bool = false
    ) {
        self.geometry = geometry
        self.x = x
        self.weight = weight
        self.output = output
        self.flips = flips
        outputs = output.shape[1]
        rows = output.count / outputs
        groups = Int(geometry.groups)
        groupInputs = x.shape[1] / groups
        patch = groupInputs * Int(geometry.kernel_height * geometry.kernel_width)
        super.init(name: name, work: output.count * patch)
    }

    override var multiplyAdds: Int { output.count * patch }

    private var isPointwise: Bool {
        geometry.kernel_height == 1 && geometry.kernel_width == 1 && geometry.stride_height == 1
            && geometry.stride_width == 1 && geometry.pad_top == 0 && geometry.pad_left == 0
            && geometry.out_height == geometry.height && geometry.out_width == geometry.width
    }

    private func sharesColumns(threads: Int) -> Bool {
        threads > 1 && rows < Self.rowsPerThread * threads && groups == 1
            && outputs >= 32 * threads
    }

    private var tile: Int {
        max(min(Self.tileFloats / patch, Self.tileRows), 64)
    }

    private var flippedCount: Int { flips ? weight.count : 0 }

    override func ownWorkspaceCount(threads: Int) -> Int {
        guard !isPointwise else { return flippedCount }
        let patches = sharesColumns(threads: threads) ? rows : threads * min(tile, rows)
        return flippedCount + patches * patch
    }

    override func bind(threads: Int, workspace: UnsafeMutablePointer<Float>) {
        super.bind(threads: threads, workspace: workspace)
        plan = flips ? [.flip] : []
        if sharesColumns(threads: threads) {
            plan += (isPointwise ? [] : [.patches]) + [.columns]
            plan += hasEpilogue ? [.epilogue] : []
        } else {
            plan.append(.tiles)
        }
    }

    override var phases: Int { plan.count }

    override func run(phase: Int, part: Part, _ workspace: UnsafeMutablePointer<Float>) {
        let patches = workspace + flippedCount
        let weights = flips ? UnsafePointer(workspace) : UnsafePointer(weight.pointer)
        switch plan[phase] {
        case .flip: flip(workspace, part)
        case .patches:
            let range = part.range(rows)
            gatherPatches(patches + range.lowerBound * patch, range, group: 0)
        case .columns: multiplyColumns(part.range(outputs, unit: 16), patches, weights)
        case .epilogue:
            let range = part.range(rows)
            finish((range.lowerBound * outputs)..<(range.upperBound * outputs), thread: part.index)
        case .tiles: runTiles(part, patches, weights)
        }
    }

    private func flip(_ target: UnsafeMutablePointer<Float>, _ part: Part) {
        let range = part.range(outputs)
        rt_flip_weights(
            target, weight.pointer, Int32(groupInputs), geometry.kernel_height,
            geometry.kernel_width, Int32(outputs), Int32(range.lowerBound),
            Int32(range.upperBound))
    }

    private func gatherPatches(
        _ target: UnsafeMutablePointer<Float>, _ range: Range<Int>, group: Int
    ) {
        var geometry = geometry
        rt_im2col(
            target, patch, x.pointer, &geometry, Int32(group * groupInputs), Int32(groupInputs),
            range.lowerBound, range.upperBound)
    }

    private func multiplyColumns(
        _ columns: Range<Int>, _ patches: UnsafePointer<Float>, _ weights: UnsafePointer<Float>
    ) {
        let a = isPointwise ? UnsafePointer(x.pointer) : patches
        sgemm(
            MatrixFactor(a, stride: patch),
            MatrixFactor(
                weights + columns.lowerBound * patch, stride: patch, isTransposed: true),
            ProductSize(rows: rows, columns: columns.count, depth: patch),
            to: MatrixProduct(output.pointer + columns.lowerBound, stride: outputs))
    }

    private func runTiles(
        _ part: Part, _ patches: UnsafeMutablePointer<Float>, _ weights: UnsafePointer<Float>
    ) {
        let own = part.range(rows)
        let scratch = patches + part.index * min(tile, rows) * patch
        var start = own.lowerBound
        while start < own.upperBound {
            let range = start..<min(start + tile, own.upperBound)
            for group in 0..<groups { runTile(range, group, scratch, weights) }
            finish((range.lowerBound * outputs)..<(range.upperBound * outputs), thread: part.index)
            start = range.upperBound
        }
    }

    private func runTile(
        _ range: Range<Int>, _ group: Int, _ scratch: UnsafeMutablePointer<Float>,
        _ weights: UnsafePointer<Float>
    ) {
        let groupOutputs = outputs / groups
        var a = UnsafePointer(scratch)
        var lda = patch
        if isPointwise {
            lda = groups * groupInputs
            a = UnsafePointer(x.pointer) + range.lowerBound * lda + group * groupInputs
        } else {
            gatherPatches(scratch, range, group: group)
        }
        sgemm(
            MatrixFactor(a, stride: lda),
            MatrixFactor(
                weights + group * groupOutputs * patch, stride: patch, isTransposed: true),
            ProductSize(rows: range.count, columns: groupOutputs, depth: patch),
            to: MatrixProduct(
                output.pointer + range.lowerBound * outputs + group * groupOutputs,
                stride: outputs))
    }
}
