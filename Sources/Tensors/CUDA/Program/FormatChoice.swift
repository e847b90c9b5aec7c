import RetintCompiler
import RetintGraph
import RetintTensors

/// Which values of a program are kept in 16 bits, if products are computed in 16 bits: images
/// between layers, and their gradients. Weights and their gradients, statistics, distributions, and
/// what is read from outside stay in float32.
struct FormatChoice {
    private let values: ValueTable
    private var images: Set<Int> = []

    /// Sets the formats of the storages, if the operands of products have this one.
    static func apply(_ format: ElementFormat, to compiled: CompiledGraph) {
        guard format != .float32 else { return }
        let choice = FormatChoice(compiled.values)
        for id in choice.images {
            let storage = compiled.values.buffer(id).storage
            if storage.root.kind == .arena { storage.format = format }
        }
    }

    private init(_ values: ValueTable) {
        self.values = values
        var fixed: Set<ObjectIdentifier> = []
        for root in values.roots {
            fixed.insert(ObjectIdentifier(values.buffer(values.origin(root)).storage.root))
        }
        for (_, buffer) in values.inputs { fixed.insert(ObjectIdentifier(buffer.storage.root)) }
        for id in values.computed where Self.isOfFloat32(values.graph.nodes[id].operation) {
            let node = values.graph.nodes[id]
            let operands = node.operation is any HostOperation ? node.inputs : []
            for value in [id] + operands {
                fixed.insert(ObjectIdentifier(values.buffer(value).storage.root))
            }
        }
        // Which values depend on an image that is not a sum of pixels.
        var isOfImages: Set<Int> = []
        for id in values.buffers.keys.sorted() {
            let node = values.graph.nodes[id]
            let isInput = node.shape.rank == 4 && isGiven(node)
            let reads = node.inputs.contains { isOfImages.contains($0) }
            guard isInput || reads && node.shape.rank == 4 && !isOfWeights(node.operation) else {
                continue
            }
            isOfImages.insert(id)
            let root = values.buffer(id).storage.root
            if !isInput, node.shape.count >= Self.fewestElements,
                root.count == node.shape.count, !fixed.contains(ObjectIdentifier(root))
            {
                images.insert(id)
            }
        }
    }

    /// Whether a value is an input, or what code makes of one, such as crops of photos.
    private func isGiven(_ node: Graph.Node) -> Bool {
        node.operation is Input
            || node.operation is any HostOperation
                && node.inputs.contains { values.graph.nodes[$0].operation is Input }
    }

    /// Smaller values are not worth a conversion.
    private static let fewestElements = 1 << 10

    private func isOfWeights(_ operation: any Operation) -> Bool {
        operation is ConvolutionWeightGradient || operation is any AxisReduction
    }

    /// Whether a result, and for code of this machine its operands, are float32: distributions,
    /// whose values are of very different sizes, what is copied to and from this machine, and
    /// positions (`IndexingOperation`), which 16 bits do not hold exactly.
    private static func isOfFloat32(_ operation: any Operation) -> Bool {
        operation is Softmax || operation is LogSoftmax || operation is any HostOperation
    }
}
