import Foundation
import RetintCoreMLProto
import SwiftProtobuf
import Testing

@testable import RetintMLPackage

/// What a hostile or a careless writer may leave: refused with its place, in little memory.
struct BadInputTests {
    private let victim: CorruptionTests.Victim

    init() throws { victim = try CorruptionTests.Victim("float32-iOS15") }

    private func expect(_ words: String..., location: SourceLocation = #_sourceLocation) {
        let text = victim.exercise()?.description ?? "nothing"
        for word in words {
            #expect(text.contains(word), "\(text)", sourceLocation: location)
        }
    }

    /// Makes a part of the package longer, without writing what it gains.
    private func extend(_ part: String, to size: UInt64) throws {
        let file = FileHandle(forUpdatingAtPath: victim.path + "/" + part)
        try file?.truncate(atOffset: size)
        try file?.close()
    }

    private func size(of part: String) throws -> Int {
        try contents(victim.path + "/" + part).count
    }

    @Test func weightsMayNotGoOnBehindTheirRecords() throws {
        let size = try size(of: Part.weights)
        try extend(Part.weights, to: UInt64(size + 63))
        #expect(victim.exercise() == nil)
        try extend(Part.weights, to: UInt64(size + 64))
        expect("weight.bin", "byte \(size)", "64 bytes follow the last of")
        try extend(Part.weights, to: 1 << 20)
        expect("weight.bin", "bytes follow the last of")
        try extend(Part.weights, to: 1 << 40)
        expect("weight.bin", "the rest are holes")
    }

    @Test(arguments: [(1, "mark DEADBEEF"), (-1, "bytes follow"), (1 << 20, "counts more records")])
    func recordsAreCounted(change: Int, words: String) throws {
        var bytes = try contents(victim.path + "/" + Part.weights)
        if change == 1 { bytes += [UInt8](repeating: 0, count: 128) }
        let count = Int(LittleEndian.number(bytes, at: 0, width: 4)) + change
        bytes.replaceSubrange(0..<4, with: LittleEndian.bytes([UInt32(count)]))
        try victim.with(Part.weights, bytes) { expect("weight.bin", words) }
    }

    @Test func filesHaveLimits() throws {
        try extend(Part.model, to: 9 << 20)
        expect("model.mlmodel", "the limit is")
        try extend(Part.model, to: 1 << 40)
        expect("model.mlmodel", "the rest are holes")
        let other = try CorruptionTests.Victim("float32-iOS15")
        let manifest = [UInt8](repeating: UInt8(ascii: " "), count: 2 << 20)
        try other.with(Part.manifest, manifest) {
            #expect(other.exercise()?.description.contains("the limit is") == true)
        }
    }

    /// Changes the model and expects the words of a refusal.
    private func refuses(
        _ words: String..., location: SourceLocation = #_sourceLocation,
        change: (inout ProtoModel) throws -> Void
    ) throws {
        let data = Data(try contents(victim.path + "/" + Part.model))
        var model = try ProtoModel(serializedBytes: data)
        try change(&model)
        try victim.with(Part.model, try model.serializedBytes()) {
            let text = victim.exercise()?.description ?? "nothing"
            for word in words {
                #expect(text.contains(word), "\(text)", sourceLocation: location)
            }
        }
    }

    @Test(arguments: [Int32.min, -1, 0, 5, 11, 99, .max])
    func versionsAreKnown(version: Int32) throws {
        try refuses("specification version", "\(version)") { $0.specificationVersion = version }
    }

    /// An operation that takes its own output, and two that take each other's.
    @Test func cyclesAreRefused() throws {
        try refuses("\"ring\" is not defined before its use", "(relu") { model in
            model.editBody { $0.append(.relu("ring", of: "ring")) }
        }
        try refuses("\"second\" is not defined before its use", "\"first\"") { model in
            model.editBody { operations in
                operations.append(.relu("first", of: "second"))
                operations.append(.relu("second", of: "first"))
            }
        }
        try refuses("\"nowhere\" is not defined before its use") { model in
            model.editBody { $0.append(.relu("lost", of: "nowhere")) }
        }
    }

    /// float16 where the file has float32, and the other way round in the program alone.
    @Test(arguments: [MILDataType.float16, .int32, .int8, .float64, .bool, .string])
    func typesAreThoseOfTheFile(dataType: MILDataType) throws {
        try refuses("weight.bin", "type number") { model in
            try model.editBody { operations in
                let place = operations.firstIndex {
                    if case .blobFileValue? = $0.attributes["val"]?.value { true } else { false }
                }
                let index = try #require(place)
                let shape = operations[index].outputs[0].type.tensorType.dimensions.map {
                    Optional(Int($0.constant.size))
                }
                let type = ProtoValueType(MILTensorType(dataType, shape))
                operations[index].attributes["val"]?.type = type
                operations[index].outputs[0].type = type
            }
        }
    }

    /// Shapes whose elements no machine holds, though their file has a few kilobytes.
    @Test(arguments: [[1 << 40, 1 << 40], [Int.max], [1 << 45], [1 << 21, 1 << 23]])
    func hugeShapesAreRefused(shape: [Int]) throws {
        try refuses("(const, \"huge\")", shape == [1 << 21, 1 << 23] ? "do not fit" : "too large") {
            model in
            model.editBody { operations in
                var huge = ProtoOperation()
                huge.type = "const"
                var value = ProtoValue()
                value.type = ProtoValueType(MILTensorType(.float32, shape))
                value.immediateValue.tensor.floats.values = [1]
                huge.attributes = ["val": value]
                huge.outputs = [ProtoNamedValueType(MILNamedType("huge", MILTensorType(.float32)))]
                huge.outputs[0].type = value.type
                operations.insert(huge, at: 0)
            }
        }
    }

    @Test func compiledModelsAreTold() throws {
        let path = victim.scratch.path("compiled")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try replace(path + "/coremldata.bin", [0])
        let failure = error { () throws(MLPackageError) in _ = try MLPackage(contentsOf: path) }
        #expect(failure?.description.contains("(.mlmodelc) is not an .mlpackage") == true)
        #expect(failure?.remedy.contains("compiled from") == true)
    }

    /// The old kind in a package of its own.
    @Test func oldModelsAreTold() throws {
        try refuses("old kind \"neuralNetwork\"", "for iOS15 or later") {
            $0.neuralNetwork = ProtoNeuralNetwork()
        }
    }
}

extension ProtoModel {
    /// Changes the operations of `main`.
    fileprivate mutating func editBody(
        _ change: (inout [ProtoOperation]) throws -> Void
    ) rethrows {
        var function = mlProgram.functions["main"] ?? ProtoFunction()
        var block = function.blockSpecializations[function.opset] ?? ProtoBlock()
        try change(&block.operations)
        function.blockSpecializations[function.opset] = block
        mlProgram.functions["main"] = function
    }
}

extension ProtoOperation {
    fileprivate static func relu(_ output: String, of input: String) -> ProtoOperation {
        let type = MILTensorType(.float32, [1])
        let operation = MILOperation(
            "relu", inputs: ["x": [.name(input)]], outputs: [MILNamedType(output, type)])
        return (try? ProtoOperation(operation, weights: nil)) ?? ProtoOperation()
    }
}
