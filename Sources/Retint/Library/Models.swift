import CRetintLibrary
import Foundation
import Retint
import RetintCLI
import RetintTensorFiles
import Synchronization

/// How a model is opened: the keys of retint_model_open.
private struct OpeningOptions: Decodable, Sendable {
    let path: String
    var form: String?
    var compute: String?
    var device: String?
    var style: String?
    var threads: Int?
    var memoryLimit: Int?

    func model() throws -> Model {
        var execution = Execution(threads: threads, memoryLimit: memoryLimit)
        if let threads, !Execution.threadRange.contains(threads) {
            let range = Execution.threadRange
            throw refusal(
                "threads: \(threads) is not from \(range.lowerBound) to \(range.upperBound)")
        }
        if let compute {
            guard let arithmetic = Arithmetic(rawValue: compute) else {
                throw refusal(
                    "compute: \(compute) is not one of "
                        + Arithmetic.allCases.map(\.rawValue).joined(separator: ", "))
            }
            execution.arithmetic = arithmetic
        }
        if let device {
            guard let device = Execution.Device(rawValue: device) else {
                throw refusal("device: \(device) is not cpu, reference, cuda or cuda:N")
            }
            execution.device = device
        }
        // `verify` is how the command verify reads a model.
        let name = try choice(form, ["colorizer", "file", "verify"], "form") ?? "colorizer"
        let forms: [String: Model.NetworkForm] = ["file": .original, "verify": .file]
        let model = try Model(
            contentsOf: path, form: forms[name] ?? .colorizer, execution: execution)
        guard let style else { return model }
        guard let style = ColorStyle(rawValue: style) else {
            throw refusal("style: \(style) is not accurate or vivid")
        }
        return try model.inStyle(style)
    }

    private func choice(
        _ text: String?, _ values: [String], _ name: String
    ) throws(ArgumentError) -> String? {
        guard let text else { return nil }
        guard values.contains(text) else {
            throw refusal("\(name): \(text) is not \(values.joined(separator: " or "))")
        }
        return text
    }

    private func refusal(_ problem: String) -> ArgumentError {
        ArgumentError(.usage, rule: problem)
    }
}

@_cdecl("retint_model_open")
public func openModel(_ options: UnsafePointer<CChar>?) -> Int64 {
    let options = decode(OpeningOptions.self, options)
    return Call.start { _ in
        guard let options else {
            return .failed(status: 64, "the options are not a JSON object with a path")
        }
        do {
            let model = try options.model()
            return Call.Ending(
                keys: ["interface": try model.interface], model: ModelRunner(model))
        } catch {
            return .failed(of: error)
        }
    }
}

@_cdecl("retint_model_layers")
public func modelLayers(_ number: Int64) -> Int64 {
    let model = Process.isForked ? nil : Registry[number]?.ending?.model?.model
    return Call.start { _ in
        guard let model else { return .failed(status: 64, "the model is closed") }
        do {
            return Call.Ending(keys: ["layers": try model.computedValues().map(Layer.init)])
        } catch {
            return .failed(of: error)
        }
    }
}

/// A value that a model computes, as retint_model_layers lists it.
private struct Layer: Encodable {
    let name, operation, module: String
    let shape: [Int]

    init(_ value: ComputedValue) {
        (name, operation, module) = (value.name, value.operation, value.module)
        shape = value.shape.dimensions
    }
}

@_cdecl("retint_model_run")
public func runModel(
    _ number: Int64, _ inputs: UnsafePointer<retint_tensor>?, _ count: Int32
) -> Int64 {
    let model = Process.isForked ? nil : Registry[number]?.ending?.model
    let values = Result { () throws(ArgumentError) in
        try copied(inputs, count).map { NamedTensor($0.name, $0.tensor.asFloats) }
    }
    return Call.start { call in
        guard let model else { return .failed(status: 64, "the model is closed") }
        do {
            let outputs = try model.run(try values.get()) { call.isCancelled }
            return Call.Ending(
                keys: ["outputs": outputs.count],
                outputs: outputs.map(BorrowedTensor.init))
        } catch {
            return .failed(of: error)
        }
    }
}
