import RetintArchitectures
import RetintCheckpoints
import RetintExport
import RetintGraph
import RetintMLPackage

@testable import RetintRuntime
@testable import RetintVerification

/// A seeded network of 32 × 32 and its packages, in memory.
struct Network: Sendable, CustomStringConvertible {
    let network: NetworkDescription
    var size = 32

    var description: String { "\(network)" }

    func checkpoint() throws -> Checkpoint { try Checkpoint(network, seed: 3) }

    func model() throws -> Model { Model(try checkpoint(), name: "checkpoint") }

    func package(
        _ precision: ExportOptions.Precision, _ change: (inout ExportOptions) -> Void = { _ in }
    ) throws -> MLPackage {
        var options = ExportOptions(precision: precision, size: size)
        change(&options)
        return try checkpoint().package(options)
    }

    var lightness: VerificationInputs { imagesOf(1, [1, 1, size, size]) }
}

extension MLPackage {
    /// Changes a constant parameter of one of the operations of a type, not of others.
    ///
    /// - Parameter share: which of them: 0 is the first, 1 the last.
    /// - Returns: the name of the operation.
    mutating func spoil(
        _ type: String, _ parameter: String, at share: Double,
        _ change: (MILValue) throws -> MILValue
    ) throws -> String {
        let places = program.operations.indices.filter {
            program.operations[$0].type == type && program.operations[$0].inputs[parameter] != nil
        }
        let place = places[Int((share * Double(places.count - 1)).rounded())]
        let name = program.operations[place].inputs[parameter]?.first?.name
        let constant = program.operations.first { $0.outputs[0].name == name }
        let value = try change(try (constant?.constantValue)!.loaded())
        program.operations[place].inputs[parameter] = [.name("spoiled")]
        program.operations.insert(
            MILOperation(
                "const", outputs: [MILNamedType("spoiled", value.type)],
                attributes: ["val": value]),
            at: place)
        return program.operations[place + 1].outputs[0].name
    }
}

extension MILValue {
    /// The floats times a factor.
    func times(_ factor: Float) throws -> MILValue {
        .floats(
            try floats().map { $0 * factor }, shape: type.shape, as: type.dataType)
    }
}
