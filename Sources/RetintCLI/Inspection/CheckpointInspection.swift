import Foundation
import Retint

/// A network with its weights.
struct CheckpointInspection: Inspection {
    private enum CodingKeys: String, CodingKey {
        case kind, file, architecture, options, step, parameters
        case multiplyAdds = "multiply_adds_256x256"
        case optimizerTensors, tensors, totalElements, totalBytes
    }

    let kind = "checkpoint"
    let file: String
    let architecture: String
    let options: [String: String]
    /// Nil for a network that is not in training.
    let step: Int?
    let parameters: Int
    /// For one picture of 256 × 256.
    let multiplyAdds: Int
    let optimizerTensors: Int
    let tensors: [TensorInspection]
    let totalElements: Int
    let totalBytes: Int

    init(_ checkpoint: Checkpoint, path: String) throws {
        file = path
        architecture = checkpoint.architecture
        options = checkpoint.options
        step = checkpoint.training.flatMap(Self.step)
        let network = try checkpoint.makeColorizer()
        parameters = StateSpec(of: network).parameterCount
        let ab = network(Graph(mode: .inference).input("input", [1, 1, 256, 256]))
        multiplyAdds = TensorGraph.multiplyAdds(of: [ab])
        optimizerTensors = checkpoint.optimizer.count
        tensors = checkpoint.state.map { name, tensor in
            TensorInspection(name: name, shape: tensor.shape, type: tensor.storedType)
        }
        totalElements = tensors.elements
        totalBytes = tensors.bytes
    }

    private static func step(_ training: String) -> Int? {
        let object = try? JSONSerialization.jsonObject(with: Data(training.utf8))
        return (object as? [String: Any])?["step"] as? Int
    }

    var lines: [String] {
        let choices = options.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let about = ([architecture] + choices).joined(separator: ", ")
        let training = step.map { ["step \($0), \(optimizerTensors) optimizer tensors"] } ?? []
        let cost = Format.fixed(Double(multiplyAdds) / 1e9, 3)
        return ["\(file): checkpoint of \(about)"] + training + [
            "\(Format.grouped(parameters)) parameters, \(cost) G multiply-adds at 256 × 256",
            tensors.total,
        ] + tensors.table
    }
}
