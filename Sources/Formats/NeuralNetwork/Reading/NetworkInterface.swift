import RetintCoreMLProto
import RetintMLPackage

/// The inputs and outputs of a network.
struct NetworkInterface {
    /// An input with the name that layers know it by.
    struct Input {
        let name: String
        var feature: Feature
        /// Whether its own axes reach the layers, or the five axes of the first versions.
        let isExact: Bool
        let preprocessing: [ProtoNeuralNetworkPreprocessing]
    }

    /// An output with the layer's output that it is.
    struct Output {
        let name: String
        let feature: Feature
    }

    var inputs: [Input]
    let outputs: [Output]
    let metadata: ModelMetadata

    /// Larger sizes are not read.
    private static let largestSize = 1 << 24
    private static let longestLabels = 1 << 16

    init(_ description: ProtoModelDescription, _ network: ProtoNeuralNetwork) throws {
        let images = description.input.filter { $0.type.isImage }.map(\.name)
        inputs = try description.input.map { proto in
            let isExact =
                proto.type.isImage
                ? network.imageInputShapeMapping == .rank4Image
                : network.arrayInputShapeMapping == .exactArray
            return Input(
                name: proto.name, feature: try Self.read(proto, "input"), isExact: isExact,
                preprocessing: network.preprocessing.filter {
                    $0.featureName == proto.name || $0.featureName.isEmpty && images == [proto.name]
                })
        }
        let described = Set(inputs.map(\.name))
        guard images.count == 1 || network.preprocessing.allSatisfy({ !$0.featureName.isEmpty })
        else {
            throw MLPackageError(
                file: "", place: "preprocessing",
                rule: "it does not name its input, and the model has \(images.count) images",
                remedy: ModelFileReader.remedy)
        }
        for preprocessing in network.preprocessing
        where !preprocessing.featureName.isEmpty && !described.contains(preprocessing.featureName) {
            throw MLPackageError(
                file: "", place: "preprocessing",
                rule: "its input \"\(preprocessing.featureName)\" does not exist",
                remedy: ModelFileReader.remedy)
        }
        outputs = try Self.outputs(description, network)
        var metadata = ModelMetadata(description.metadata)
        let labels =
            network.stringClassLabels.vector + network.int64ClassLabels.vector.map(String.init)
        let text = labels.joined(separator: ",")
        if !labels.isEmpty, text.utf8.count <= Self.longestLabels {
            metadata.userDefined["classes"] = text
        }
        self.metadata = metadata
    }

    private static func outputs(
        _ description: ProtoModelDescription, _ network: ProtoNeuralNetwork
    ) throws -> [Output] {
        guard !description.predictedFeatureName.isEmpty else {
            return try description.output.map {
                Output(name: $0.name, feature: try read($0, "output"))
            }
        }
        let arrays = try description.output.filter { $0.type.isImage || $0.type.isArray }.map {
            Output(name: $0.name, feature: try read($0, "output"))
        }
        let named = network.labelProbabilityLayerName
        let name = named.isEmpty ? network.layers.last?.output.first ?? "" : named
        guard !arrays.contains(where: { $0.name == name }) else { return arrays }
        let own = description.predictedProbabilitiesName
        let feature = Feature(
            MILNames.legal(own.isEmpty ? name : own), .multiArray(ArrayFeature(.float32, [])))
        return [Output(name: name, feature: feature)] + arrays
    }

    private static func read(
        _ proto: ProtoFeatureDescription, _ role: String
    ) throws -> Feature {
        var feature: Feature
        do {
            feature = try Feature(proto)
        } catch {
            throw MLPackageError(error, file: "", remedy: ModelFileReader.remedy)
        }
        feature.name = MILNames.legal(feature.name)
        let sizes = feature.type.defaultShape + feature.type.sizeBounds.map(\.lower)
        guard sizes.allSatisfy({ (0...largestSize).contains($0) }) else {
            throw MLPackageError(
                file: "", place: "\(role) \"\(proto.name)\"",
                rule: "its size is not between 0 and \(largestSize)",
                remedy: ModelFileReader.remedy)
        }
        // Layers compute in float32 whatever the arrays around them.
        if case .multiArray(var array) = feature.type, array.dataType != .int32 {
            array.dataType = .float32
            feature.type = .multiArray(array)
        }
        return feature
    }
}

extension ProtoFeatureType {
    fileprivate var isImage: Bool { if case .imageType = type { true } else { false } }

    fileprivate var isArray: Bool { if case .multiArrayType = type { true } else { false } }
}
