import Foundation
import RetintCheckpoints
public import RetintFiles
import RetintONNXReading

extension VerificationResults {
    /// Writes the SNR of each compared intermediate value as node data for Model Explorer, which
    /// colors the nodes of an ONNX file by it; an existing file is replaced.
    ///
    /// Nodes are identified by their names if the verified model is an ONNX file, and by the names
    /// of their outputs otherwise: those are the nodes' names in the copy that
    /// ``writeAnnotatedONNX(of:to:)`` writes. Values are in dB, clamped to 0…200; NaN is 0, and
    /// identical values have 200.
    ///
    /// - Throws: `FileError` if it cannot be written; `ONNXError` if the model is an ONNX file that
    ///   was damaged since it was verified.
    public func writeNodeData(to path: some PathConvertible) throws {
        let report = reportWithLayers
        let nodes = try report.map { try titles(of: $0.model) } ?? [:]
        var results: [String: NodeData.Result] = [:]
        for layer in report?.layers ?? [] {
            guard let error = layer.error else { continue }
            results[nodes[layer.key] ?? layer.value.name] = NodeData.Result(error)
        }
        let data = NodeData(
            name: "SNR in dB against \(report?.reference ?? "nothing")", results: results)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try AtomicFile.write(Array(try encoder.encode(data)) + [UInt8(ascii: "\n")], to: path)
    }

    /// Empty for a model that is not an ONNX file, or that is no longer there.
    private func titles(of model: String) throws -> [String: String] {
        guard let format = try? ModelFormat(ofModelAt: model), format == .onnx else { return [:] }
        return try ONNXAnnotations.titles(inFileAt: model)
    }
}

/// `GraphNodeData` of Model Explorer, whose keys are spelled as there.
private struct NodeData: Encodable {
    let name: String
    let results: [String: Result]
    var thresholds = [
        Threshold(value: 20, bgColor: "#d73027", textColor: "white"),
        Threshold(value: 40, bgColor: "#fc8d59"), Threshold(value: 60, bgColor: "#fee08b"),
        Threshold(value: 100, bgColor: "#d9ef8b"), Threshold(value: 200, bgColor: "#91cf60"),
    ]

    struct Result: Encodable {
        let value: Double
        /// The color of a value outside the tolerance; nil for that of the threshold.
        let bgColor, textColor: String?

        init(_ error: VerificationReport.LayerError) {
            value = error.snr.isNaN ? 0 : min(max(error.snr, 0), 200)
            (bgColor, textColor) = error.holds ? (nil, nil) : ("#a50026", "white")
        }
    }

    /// The color of values up to one.
    struct Threshold: Encodable {
        let value: Double
        let bgColor: String
        var textColor: String?
    }
}
