import Testing

@testable import RetintMLPackage

struct BuilderTests {
    private let type = MILTensorType(.float32, [1, 2])

    @Test(arguments: [
        ("model1.0.weight", "model1_0_weight"), ("1x", "_1x"), ("", "_"), ("string", "string_"),
        ("é", "__"), ("a@1", "a@1"),
    ])
    func makesLegalNames(wish: String, name: String) {
        #expect(MILNames.legal(wish) == name)
        #expect(MILNames.isLegal(name))
        #expect(MILNames.isLegal(wish) == (wish == name))
    }

    @Test func namesAreUsedOnce() {
        var builder = MILProgramBuilder()
        let x = builder.input("a.b", type)
        let y = builder.operation("relu", ["x": .name(x)], name: "a_b", type: type)
        let z = builder.operation("relu", ["x": .name(y)], name: "a b", type: type)
        #expect([x, y, z] == ["a_b", "a_b_1", "a_b_2"])
    }

    @Test func equalSmallConstantsAreMadeOnce() {
        var builder = MILProgramBuilder()
        let first = builder.constant(.integers([1, 1]), name: "a")
        #expect(builder.constant(.integers([1, 1]), name: "b") == first)
        #expect(builder.constant(.integers([1, 2]), name: "b") != first)
        #expect(builder.constant(.float(1), name: "c") != builder.constant(.integer(1), name: "d"))
    }

    @Test func outputTakesItsNameFromOthers() throws {
        var builder = MILProgramBuilder()
        let x = builder.input("x", type)
        let y = builder.operation("relu", ["x": .name(x)], name: "ab", type: type)
        let z = builder.operation("tanh", ["x": .name(y)], name: "z", type: type)
        try builder.output(z, as: "ab")
        let operations = builder.program.operations
        #expect(operations.map { $0.outputs[0].name } == ["ab_1", "ab"])
        #expect(operations[1].inputs["x"] == [.name("ab_1")])
        try ProgramRules.check(builder.program)
    }

    @Test func inputsAndOutputsGoThroughAnIdentity() throws {
        var builder = MILProgramBuilder()
        let x = builder.input("x", type)
        try builder.output(x, as: "y")
        try builder.output("y", as: "z")
        #expect(builder.program.outputs == ["y", "z"])
        #expect(builder.program.operations.map(\.type) == ["identity", "identity"])
        try ProgramRules.check(builder.program)
        #expect(throws: MLPackageError.self) { try builder.output("y", as: "x") }
        #expect(throws: MLPackageError.self) { try builder.output("y", as: "a.b") }
    }

    @Test func listsAndInlineValuesAreBound() {
        var builder = MILProgramBuilder()
        let x = builder.input("x", type)
        let y = builder.operation(
            "concat",
            ["values": .names([x, x]), "axis": .constant(.integer(0)), "k": .inline(.bool(true))],
            name: "y", type: MILTensorType(.float32, [2, 2]))
        let last = builder.program.operations.last
        #expect(last?.inputs["values"] == [.name(x), .name(x)])
        #expect(last?.inputs["axis"] == [.name("y_axis")])
        #expect(last?.inputs["k"] == [.value(.bool(true))])
        #expect(y == "y")
    }
}
