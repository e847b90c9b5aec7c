import RetintMIL
import RetintMLPackage
import RetintONNXProto

/// The inputs and outputs of a model.
struct Interface {
    private let description: ModelDescription
    private let types: [String: MILTensorType]
    private(set) var notes = Notes()
    private(set) var inputs: [ONNXValueInfoProto] = []
    private(set) var outputs: [ONNXValueInfoProto] = []

    init(_ package: MLPackage) throws {
        description = package.description
        types = package.program.types
        for input in package.program.inputs { try add(input: input) }
        for name in package.program.outputs { try add(output: name) }
        if let classifier = description.classifier {
            notes.add(classifier.leftOut, about: classifier.probabilities)
        }
    }

    private mutating func add(input: MILNamedType) throws {
        let feature = description.inputs.first { $0.name == input.name }
        let texts = [feature?.shortDescription, feature.flatMap { limits($0) }]
        let info = try ONNXValueInfoProto(
            input, sizes: names(of: input),
            text: texts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "; "))
        inputs.append(info)
    }

    private mutating func add(output name: String) throws {
        guard let type = types[name] else { return }
        let output = MILNamedType(name, type)
        let feature = description.outputs.first { $0.name == name }
        outputs.append(
            try ONNXValueInfoProto(
                output, sizes: names(of: output), text: feature?.shortDescription ?? ""))
    }

    /// Descriptions of what ONNX has no field for: pixels, and the allowed sizes.
    private mutating func limits(_ feature: Feature) -> String? {
        var texts: [String] = []
        if case .image(let image) = feature.type {
            let kind = image.colorSpace.channels == 1 ? "gray" : "\(image.colorSpace)".uppercased()
            texts.append("pixels, \(kind), 0 to 255")
            let order = image.colorSpace == .bgr ? ", blue first" : ""
            notes.add(
                "an image becomes a tensor of pixels from 0 to 255\(order)", about: feature.name)
        }
        if feature.type.isFlexible {
            texts.append("takes \(feature.type.allowedShapes)")
            notes.add(
                "ONNX names sizes that vary, but cannot say that the model takes "
                    + feature.type.allowedShapes, about: feature.name)
        }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// Names for the variable sizes of a value. A colorizer's images all have one size; for other
    /// models, nothing says which sizes are equal.
    private func names(of value: MILNamedType) -> [String] {
        let isShared =
            description.inputs.count == 1
            && (description.metadata.userDefined["retint.architecture"] != nil
                || description.inputs[0].name == value.name)
        let prefix = isShared ? "" : "\(value.name)_"
        let axes = value.type.rank == 4 ? ["batch", "channels", "height", "width"] : nil
        return value.type.dimensions.indices.map { prefix + (axes?[$0] ?? "size_\($0)") }
    }
}

extension ONNXValueInfoProto {
    /// - Parameters:
    ///   - sizes: names for dimensions that are not known; without them, these stay open.
    ///   - text: a description of the value.
    init(_ value: MILNamedType, sizes: [String]? = nil, text: String = "") throws {
        guard let elementType = value.type.dataType.onnxType else {
            throw ConversionError(
                place: "value \(value.name)", rule: "ONNX has no tensors of \(value.type.dataType)",
                remedy: "Convert the network without it.")
        }
        self.init()
        name = value.name
        if !text.isEmpty { docString = text }
        type.tensorType.elemType = Int32(elementType.rawValue)
        type.tensorType.shape.dim = value.type.dimensions.enumerated().map { axis, size in
            var dimension = ONNXTensorShapeProto.Dimension()
            if let size {
                dimension.dimValue = Int64(size)
            } else if let sizes {
                dimension.dimParam = sizes[axis]
            }
            return dimension
        }
    }
}
