import RetintGraph
import RetintONNXReading
import RetintTensors

/// Finds the sizes of photos for which a network returns colors of the same size, by building
/// its graph for some sizes.
///
/// The size stated in a file is only one of the candidates: most exporters state just the
/// size and batch that they traced the network with.
package struct SizeProbe {
    let model: ONNXModel
    let form: ColorForm
    /// Another form, which is taken if the outputs fit it.
    let alternative: ColorForm?
    let chosenOutputs: [String]

    /// The result.
    struct Result {
        let sizes: InputSizes
        let form: ColorForm
        let outputs: ColorOutputs
        /// Whether the network takes one image at a time only.
        let isSingle: Bool
    }

    private static let multiples = [1, 2, 4, 8, 16, 32, 64, 128]

    /// Sides of the squares that a network may be traced for, although its file leaves the size
    /// open.
    private static let usualSides = [
        256, 224, 512, 128, 64, 384, 320, 192, 96, 32, 448, 518, 640, 480, 160, 112, 48, 240, 288,
        299, 336, 352, 416, 768, 1024, 28, 80, 100, 144, 176, 200, 272, 300, 368, 400, 560, 576,
        600,
        608, 672, 800, 896, 960,
    ]

    /// Sides to try; few for a network of very many operations, which takes long to build.
    package static func sides(for model: ONNXModel) -> [Int] {
        Array(usualSides.prefix(1 + 100_000 / max(1, model.nodes.count)))
    }

    /// - Throws: `ONNXError` with the reason why it does not run at the size that it states.
    func run() throws -> Result {
        let stated = statedSize
        for batch in [2, 1] {
            for multiple in Self.multiples {
                let side = Self.side(ofMultiple: multiple)
                let sides = (side, side + 2 * multiple)
                if let (form, outputs) = try? colors(batch, sides.0, sides.1) {
                    return Result(
                        sizes: .multiples(of: multiple), form: form, outputs: outputs,
                        isSingle: batch == 1)
                }
            }
            if let stated, let (form, outputs) = try? colors(batch, stated.height, stated.width) {
                let sizes = InputSizes.only(height: stated.height, width: stated.width)
                return Result(
                    sizes: sizes, form: form, outputs: outputs, isSingle: batch == 1)
            }
        }
        for side in stated == nil ? Self.sides(for: model) : [] {
            for batch in [2, 1] {
                guard let (form, outputs) = try? colors(batch, side, side) else { continue }
                return Result(
                    sizes: .only(height: side, width: side), form: form, outputs: outputs,
                    isSingle: batch == 1)
            }
        }
        _ = try ONNXModel.explainingDamage(by: stated == nil ? ONNXModel.openSizes : nil) {
            try colors(1, stated?.height ?? 256, stated?.width ?? 256)
        }
        throw ONNXError(rule: "no size was found at which it runs")
    }

    /// A side of about 160: an odd multiple, and so not one of a larger number.
    static func side(ofMultiple multiple: Int) -> Int { max(3, 160 / multiple | 1) * multiple }

    private var statedSize: Pair? {
        guard let extents = model.inputs[0].extents, extents.count == 4,
            let height = extents[2], let width = extents[3],
            (1...16_384).contains(height), (1...16_384).contains(width)
        else { return nil }
        return Pair(height, width)
    }

    /// The colors among the outputs for photos of a size.
    private func colors(
        _ batch: Int, _ height: Int, _ width: Int
    ) throws -> (form: ColorForm, outputs: ColorOutputs) {
        let graph = Graph(mode: .inference)
        let photo = graph.input("photo", [batch, form.input.channels, height, width])
        let values = try model.build(
            in: graph, inputs: [model.inputs[0].name: .tensor(photo, .float)])
        let shapes = values.compactMap { name, value -> (name: String, shape: Shape)? in
            guard case .tensor(let tensor, _) = value else { return nil }
            return (name, tensor.shape)
        }
        if let alternative,
            let outputs = try? chosen(from: shapes, alternative, batch, height, width)
        {
            return (alternative, outputs)
        }
        return (form, try chosen(from: shapes, form, batch, height, width))
    }

    private func chosen(
        from outputs: [(name: String, shape: Shape)], _ form: ColorForm, _ batch: Int,
        _ height: Int, _ width: Int
    ) throws -> ColorOutputs {
        let wanted = Shape([batch, form.colors.channels, height, width])
        let candidates = outputs.filter { chosenOutputs.isEmpty || chosenOutputs.contains($0.name) }
        let joint = candidates.filter { $0.shape == wanted }
        if joint.count == 1 { return .joint(joint[0].name) }
        var half = wanted.dimensions
        half[1] = 1
        let planes = candidates.filter { $0.shape == Shape(half) }
        if joint.isEmpty, form.colors == .ab, let outputs = ColorOutputs(planes) { return outputs }
        let list = outputs.map { "\($0.name.debugDescription) \($0.shape)" }
        throw ONNXError(
            place: "outputs",
            rule: joint.count > 1
                ? "\(joint.map(\.name.debugDescription).joined(separator: " and ")) can both be "
                    + "the colors"
                : "none is \(wanted), the colors for a photo \(batch) × \(form.input.channels) × "
                    + "\(height) × \(width); they are \(list.joined(separator: ", "))",
            remedy: joint.count > 1
                ? "Name the one to use."
                : "To convert a network that is not a colorizer, give this file itself to "
                    + "`retint export`, without `import`; a colorizer has \(form.colors.channels) "
                    + "channels of color in the size of its input.")
    }
}

extension ONNXModel {
    /// The way out if no size was found.
    package static let openSizes =
        "The file leaves its sizes open, but the network runs at none of those that were tried: "
        + "export it with the size that it takes."

    /// Runs `body`, which builds a network at a size that its file does not state: that it does not
    /// take this size does not mean that the file is damaged.
    ///
    /// - Parameter remedy: the way out; nil if the file states the size.
    package static func explainingDamage<Result>(
        by remedy: String?, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as ONNXError where error.remedy == ONNXError.damaged {
            guard let remedy else { throw error }
            throw ONNXError(
                file: error.file, place: error.place, rule: error.rule, remedy: remedy)
        }
    }
}
