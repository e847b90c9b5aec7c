import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors

/// A program of MIL that is translated to ONNX: its input is `x`, its output `y`, both float32.
package struct ProgramCase: Sendable, CustomStringConvertible {
    package let name: String
    package let input: TensorData
    private let build: @Sendable (inout MILProgramBuilder) -> String

    package var description: String { name }

    init(
        _ name: String, _ input: TensorData,
        build: @escaping @Sendable (inout MILProgramBuilder) -> String
    ) {
        (self.name, self.input, self.build) = (name, input, build)
    }

    package func makePackage() throws -> MLPackage {
        var builder = MILProgramBuilder()
        _ = builder.input("x", MILTensorType(.float32, input.shape.dimensions))
        let result = build(&builder)
        try builder.output(result, as: "y")
        return try RetintPackageSupport.package(builder.program, .iOS18)
    }
}

extension ProgramCase {
    static let shape = [1, 4, 6, 8]

    /// An operation that takes `x`, and what else is given.
    static func one(
        _ type: String, _ parameters: [String: MILOperand] = [:], _ note: String = "",
        from input: [Int] = shape, to output: [Int]? = nil, positive: Bool = false
    ) -> ProgramCase {
        ProgramCase(
            note.isEmpty ? type : "\(type) \(note)", numbers(Shape(input), positive: positive)
        ) {
            $0.operation(
                type, parameters.merging(["x": .name("x")]) { given, _ in given }, name: "r",
                type: MILTensorType(.float32, output ?? input))
        }
    }

    /// A comparison of `x` with a number, as 0 and 1.
    static func comparison(_ type: String, _ parameters: [String: MILOperand]) -> ProgramCase {
        ProgramCase(type, numbers(Shape(shape))) { builder in
            let isSo = builder.operation(
                type, parameters.merging(["x": .name("x")]) { given, _ in given }, name: "is_so",
                type: MILTensorType(.bool, shape))
            return choice(isSo, &builder)
        }
    }

    /// x where the condition holds, ¼ elsewhere.
    static func choice(_ condition: String, _ builder: inout MILProgramBuilder) -> String {
        builder.operation(
            "select", ["cond": .name(condition), "a": .name("x"), "b": float(0.25)],
            name: "chosen", type: MILTensorType(.float32, shape))
    }

    static func float(_ value: Float) -> MILOperand { .constant(.float(value)) }
    static func floats(_ shape: Int..., seed: Int = 7) -> MILOperand {
        let data = numbers(Shape(shape), seed: seed)
        return .constant(.floats(data.scalars, shape: shape))
    }
    static func string(_ value: String) -> MILOperand { .constant(.string(value)) }
    static func flag(_ value: Bool) -> MILOperand { .constant(.bool(value)) }
    static func flags(_ values: Bool...) -> MILOperand { .constant(.bools(values)) }
    static func integer(_ value: Int32) -> MILOperand { .constant(.integer(value)) }
}
