import Foundation
public import RetintArchitectures
import RetintCheckpoints
import RetintGraph
import RetintLayers
import RetintTensorFiles

/// The contents of a checkpoint.
public struct CheckpointInspection: Encodable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case kind, file, architecture, options, form, step, parameters
        case multiplyAdds256 = "multiply_adds_256x256"
        case multiplyAdds
        case onlySize, optimizerTensors, tensors, totalElements, totalBytes
    }

    /// `checkpoint`.
    public let kind = ModelFormat.checkpoint.kind
    /// The path of the file, as the caller gave it.
    public let file: String
    /// Which network it is; in JSON, its architecture and the options other than defaults.
    public let network: NetworkDescription
    /// What an imported network itself takes and returns; nil for other networks.
    public var form: ColorForm? { network.definition?.form }
    /// The step that training has reached; nil without a training state.
    public let step: Int?
    /// The number of trained values.
    public let parameters: Int
    /// For one image of 256 × 256; nil for a network that takes only another size.
    public let multiplyAdds256: Int?
    /// For one image of the only size that the network takes; nil for other networks.
    public let multiplyAdds: Int?
    /// The only size that the network takes: width and height in pixels.
    public let onlySize: [Int]?
    /// The number of tensors of the optimizer's state.
    public let optimizerTensors: Int
    /// The parameters and buffers, without the optimizer's state.
    public let tensors: [TensorInspection]
    /// The number of elements of all ``tensors``.
    public let totalElements: Int
    /// The size of all ``tensors`` in bytes, uncompressed.
    public let totalBytes: Int

    init(_ checkpoint: Checkpoint, path: String) throws {
        file = path
        self.network = checkpoint.network
        step = checkpoint.training.flatMap(Self.step)
        let network = try checkpoint.network.make()
        parameters = StateSpec(of: network).parameterCount
        let size = network.onlySize ?? 256
        let input = Graph(mode: .inference).input("input", [1, 1, size.height, size.width])
        let cost = RetintGraph.multiplyAdds(of: [network(input)])
        (multiplyAdds256, multiplyAdds) = network.onlySize == nil ? (cost, nil) : (nil, cost)
        onlySize = network.onlySize.map { [$0.width, $0.height] }
        optimizerTensors = checkpoint.optimizer.count
        let stored = try HDF5StateDict(from: HDF5Reader(path: path))
        tensors = checkpoint.state.map { name, tensor in
            TensorInspection(
                name: name, shape: tensor.shape,
                type: stored.storedType(of: name) ?? tensor.storedType)
        }
        totalElements = tensors.elements
        totalBytes = tensors.bytes
    }

    /// Writes the inspection as one object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encode(file, forKey: .file)
        try container.encode(network.architecture, forKey: .architecture)
        try container.encode(network.options, forKey: .options)
        try container.encodeIfPresent(form?.description, forKey: .form)
        try container.encodeIfPresent(step, forKey: .step)
        try container.encode(parameters, forKey: .parameters)
        try container.encodeIfPresent(multiplyAdds256, forKey: .multiplyAdds256)
        try container.encodeIfPresent(multiplyAdds, forKey: .multiplyAdds)
        try container.encodeIfPresent(onlySize, forKey: .onlySize)
        try container.encode(optimizerTensors, forKey: .optimizerTensors)
        try container.encode(tensors, forKey: .tensors)
        try container.encode(totalElements, forKey: .totalElements)
        try container.encode(totalBytes, forKey: .totalBytes)
    }

    private static func step(_ training: String) -> Int? {
        let object = try? JSONSerialization.jsonObject(with: Data(training.utf8))
        return (object as? [String: Any])?["step"] as? Int
    }
}
