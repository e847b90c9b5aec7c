import RetintGraph
import RetintTensorFiles
import RetintTensors
import RetintVerification
import Testing

@testable import RetintRuntime

@Suite struct ReferenceTests {
    private let values = TensorData(shape: [1, 1, 2, 2], scalars: [1, 2, 3, 4])

    @Test func readsInputsAndOutputs() throws {
        let fixture = try Fixture()
        let path = try fixture.write([("inputs/L", values), ("outputs/ab", values)])
        let reference = try Reference(contentsOf: path)
        #expect(reference.inputs == [NamedTensor("L", values)])
        #expect(reference.outputs == [NamedTensor("ab", values)])
    }

    @Test func refusesMissingGroups() throws {
        let fixture = try Fixture()
        for (tensors, missing) in [
            ([("inputs/L", values)], "outputs/<name>"),
            ([("outputs/ab", values)], "inputs/<name>"),
        ] {
            let path = try fixture.write(tensors)
            let error = #expect(throws: VerificationError.self) { try Reference(contentsOf: path) }
            #expect(error?.description.contains(missing) == true)
        }
    }

    @Test func refusesNonFiniteValues() throws {
        let fixture = try Fixture()
        var damaged = values
        damaged.scalars[2] = .nan
        let path = try fixture.write([("inputs/L", values), ("outputs/ab", damaged)])
        let error = #expect(throws: VerificationError.self) { try Reference(contentsOf: path) }
        #expect(error?.kind == .badReference && error?.place == "outputs/ab")
        #expect(error?.problem.contains("[0, 0, 1, 0]") == true)
    }

    @Test func refusesIntegers() throws {
        let fixture = try Fixture()
        let path = fixture.scratch.path("integers.h5")
        let writer = try HDF5Writer(path: path)
        try writer.write(StoredTensor(integer: 3), to: "inputs/L")
        try writer.finish()
        #expect(throws: VerificationError.self) { try Reference(contentsOf: path) }
    }

    @Test func missingFile() throws {
        #expect(throws: TensorFileError.self) {
            try Reference(contentsOf: "/nowhere/reference.h5")
        }
    }
}
