import Foundation
import RetintCoreMLProto
import RetintTestSupport
import SwiftProtobuf
import Testing

@testable import RetintMLPackage

/// Models that parse and still may not be used.
struct RefusalTests {
    typealias Change = @Sendable (inout ProtoModel) -> Void

    /// Changes the body of `main`.
    private static func block(_ change: @escaping @Sendable (inout ProtoBlock) -> Void) -> Change {
        { model in
            var function = model.mlProgram.functions["main"] ?? ProtoFunction()
            var block = function.blockSpecializations[function.opset] ?? ProtoBlock()
            change(&block)
            function.blockSpecializations[function.opset] = block
            model.mlProgram.functions["main"] = function
        }
    }

    private static let cases: [(String, Change)] = [
        ("old kind \"neuralNetwork\"", { $0.neuralNetwork = ProtoNeuralNetwork() }),
        ("no model", { $0.type = nil }),
        ("specification version", { $0.specificationVersion = 99 }),
        ("operation set", { $0.specificationVersion = 9 }),
        ("train", { $0.isUpdatable = true }),
        (
            "Convert the network again, with the state as another input and output.",
            { $0.description_p.state = [ProtoFeatureDescription()] }
        ),
        ("its functions are []", { $0.mlProgram.functions = [:] }),
        ("default function \"\"", functions(["small", "large"], default: "")),
        ("default function \"small\"", functions(["small", "small"], default: "small")),
        ("its functions are", functions(["small", "medium"], default: "small")),
        ("its inputs are []", functions(["small", "large"], default: "small")),
        ("version has to be 1", { $0.mlProgram.version = 2 }),
        ("its inputs are", { $0.description_p.input = [] }),
        (
            "the interface says",
            { $0.description_p.input[0].type.multiArrayType.shape = [1, 1, 9, 9] }
        ),
        (
            "the interface says",
            { $0.description_p.output[0].type.multiArrayType.dataType = .int32 }
        ),
        ("above zero", { $0.description_p.input[0].type.multiArrayType.shape = [1, 1, -1, 16] }),
        (
            "array type",
            { $0.description_p.input[0].type.multiArrayType.dataType = .UNRECOGNIZED(7) }
        ),
        ("not defined before", block { $0.operations.reverse() }),
        ("twice", block { $0.operations.append($0.operations[0]) }),
        ("it is not defined", block { $0.outputs = ["nowhere"] }),
        ("no outputs", block { $0.outputs = [] }),
        ("directly", block { $0.outputs.append("lightness") }),
        ("one output", block { $0.operations[0].outputs = [] }),
        ("control flow", block { $0.operations[0].blocks = [ProtoBlock()] }),
        (
            "no attribute",
            block { $0.operations[$0.operations.count - 1].attributes["x"] = .init(flag) }
        ),
        (
            "bound to nothing",
            block { $0.operations[$0.operations.count - 1].inputs["x"] = .init() }
        ),
        ("names have letters", block { $0.operations[0].outputs[0].name = "a.b" }),
        ("no keywords", block { $0.operations[0].outputs[0].name = "string" }),
        ("declared", block { $0.operations[0].outputs[0].type = ProtoValueType(huge(1)) }),
        (
            "too large",
            block {
                $0.operations[$0.operations.count - 1].outputs[0].type = ProtoValueType(huge(3))
            }
        ),
        ("rank of", block { $0.operations[0].outputs[0].type.tensorType.rank = 9 }),
        (
            "type number",
            block { $0.operations[0].outputs[0].type.tensorType.dataType = .UNRECOGNIZED(3) }
        ),
        ("only tensors", block { $0.operations[0].outputs[0].type.listType = ProtoListType() }),
        ("no value", block { $0.operations[0].attributes["val"]?.value = nil }),
        (
            "do not fit",
            block {
                $0.operations[0].attributes["val"]?.type = ProtoValueType(
                    MILTensorType(.float32, [99]))
            }
        ),
        (
            "cannot be of type",
            block { $0.operations[0].attributes["val"]?.immediateValue.tensor.ints.values = [1] }
        ),
        ("@model_path", block { $0.refer(to: "/etc/passwd") }),
        ("..", block { $0.refer(to: "@model_path/../../../x") }),
        ("does not exist", block { $0.refer(to: "@model_path/weights/other.bin") }),
        ("multiple of 64", block { $0.refer(offset: 65) }),
        ("multiple of 64", block { $0.refer(offset: .max) }),
        ("multiple of 64", block { $0.refer(offset: 0) }),
        ("DEADBEEF", block { $0.refer(offset: 128) }),
        ("does not fit", block { $0.refer(shape: [8, 1, 3, 4]) }),
        ("does not fit", block { $0.refer(shape: [1 << 62, 1 << 62]) }),
    ]

    private static let flag: ProtoValue = {
        var value = ProtoValue()
        value.type = ProtoValueType(MILTensorType(.bool))
        value.immediateValue.tensor.bools.values = [true]
        return value
    }()

    private static func huge(_ rank: Int) -> MILTensorType {
        MILTensorType(.string, Array(repeating: 1 << 40, count: rank))
    }

    @Test(arguments: cases.indices) func refuses(index: Int) throws {
        let (rule, change) = Self.cases[index]
        let victim = try CorruptionTests.Victim("float32-iOS15")
        let data = Data(try contents(victim.path + "/" + Part.model))
        var model = try ProtoModel(serializedBytes: data)
        change(&model)
        try victim.with(Part.model, try model.serializedBytes()) {
            let error = victim.exercise()
            #expect(error?.description.contains(rule) == true, "\(String(describing: error))")
        }
    }

    private static func functions(_ names: [String], default standard: String) -> Change {
        { model in
            model.description_p.functions = names.map { name in
                var function = ProtoFunctionDescription()
                function.name = name
                return function
            }
            model.description_p.defaultFunctionName = standard
            let main = model.mlProgram.functions["main"]
            model.mlProgram.functions = [:]
            for name in ["small", "large"] { model.mlProgram.functions[name] = main }
        }
    }

    /// What the two kinds of single file hold.
    @Test(arguments: [
        (4, 500, "specification version 4 contains a neural network, not an ML Program"),
        (1, 202, "specification version 1 contains a pipeline, not an ML Program"),
        (9, 502, "specification version 9 with an ML Program lacks its weights"),
        (9, 7, "not a Core ML model"),
    ])
    func namesWhatASingleFileHolds(version: UInt8, field: UInt64, rule: String) throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path("a.mlmodel")
        let tag = field << 3 | 2
        let bytes = [8, version, UInt8(tag & 0x7F | 0x80), UInt8(tag >> 7), 1, 0]
        try replace(path, bytes)
        let failure = error { () throws(MLPackageError) in _ = try MLPackage(contentsOf: path) }
        #expect(failure?.rule.contains(rule) == true, "\(String(describing: failure))")
        try replace(path, Array(bytes.dropLast()))
        let damaged = error { () throws(MLPackageError) in _ = try MLPackage(contentsOf: path) }
        #expect(damaged?.rule.contains("not a Core ML model") == true)
    }

    @Test(arguments: [
        ("a.mlmodel", "not a Core ML model"), ("a.mlmodelc", "compiled"),
        ("absent", "no such package"), ("file", "directory"),
    ])
    func tellsApartWhatIsNoPackage(name: String, rule: String) throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path(name)
        if name == "a.mlmodelc" {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
        } else if name != "absent" {
            try replace(path, [0])
        }
        let failure = error { () throws(MLPackageError) in _ = try MLPackage(contentsOf: path) }
        #expect(failure?.rule.contains(rule) == true)
        #expect(failure?.file == path)
    }
}

extension ProtoBlock {
    /// Changes the first constant that stands in the weight file.
    fileprivate mutating func refer(
        to file: String? = nil, offset: UInt64? = nil, shape: [Int]? = nil
    ) {
        for index in operations.indices {
            guard var value = operations[index].attributes["val"],
                case .blobFileValue(var blob) = value.value
            else { continue }
            blob.fileName = file ?? blob.fileName
            blob.offset = offset ?? blob.offset
            value.blobFileValue = blob
            if let shape { value.type = ProtoValueType(MILTensorType(.float32, shape)) }
            operations[index].attributes["val"] = value
            return
        }
    }
}
