import RetintMLPackage
import RetintPackageSupport
import Testing

@testable import RetintDeviceRules

@Suite struct ConverterFaultTests {
    /// A package with a chain of operations, each of the value before it.
    private func chain(
        _ types: [String], _ parameters: [String: MILOperand] = [:], version: String? = "9.0"
    ) throws -> MLPackage {
        var builder = MILProgramBuilder()
        let type = MILTensorType(.float32, [2, 4])
        var value = builder.input("x", type)
        for (index, name) in types.enumerated() {
            let last = index + 1 == types.count ? parameters : [:]
            value = builder.operation(
                name, last.merging(["x": .name(value)]) { $1 }, name: "value\(index)", type: type)
        }
        try builder.output(value, as: "out")
        var package = try package(builder.program)
        package.metadata.userDefined["com.github.apple.coremltools.version"] = version
        return package
    }

    private func found(
        _ types: [String], _ parameters: [String: MILOperand] = [:], version: String? = "9.0"
    ) throws -> [String] {
        try ConverterFinding.findings(in: chain(types, parameters, version: version)).map {
            $0.fault.id
        }
    }

    @Test func logarithmOfSoftmax() throws {
        let package = try chain(["softmax", "log"])
        let finding = try #require(ConverterFinding.findings(in: package).first)
        #expect(finding.fault.id == "log-softmax" && finding.certainty == .present)
        #expect(finding.operations == ["out"] && finding.version == "9.0")
        #expect(finding.warning.hasPrefix("coremltools 9.0 converts log_softmax wrongly (out): "))
        #expect(try found(["softmax", "relu", "log"]) == [])
    }

    @Test func logarithmOfCumulativeSum() throws {
        #expect(try found(["exp", "cumsum", "log"]) == ["logcumsumexp"])
        #expect(try found(["cumsum", "log"]) == [])
    }

    @Test func epsilonOfReciprocal() throws {
        func epsilon(_ value: Float) -> [String: MILOperand] {
            ["epsilon": .constant(.floats([value], shape: []))]
        }
        #expect(try found(["inverse"], epsilon(1e-4)) == ["reciprocal-epsilon"])
        #expect(try found(["inverse"], epsilon(1e-12)) == [])
    }

    /// Of the form of coremltools' `group_norm`, but for the axes and the groups.
    private func normalized(axes: [Int], groups: [Int]) throws -> [String] {
        var builder = MILProgramBuilder()
        let whole = MILTensorType(.float32, [1, 4, 8, 8])
        let split = MILTensorType(.float32, groups)
        let mean = MILTensorType(
            .float32, groups.indices.map { axes.contains($0) ? 1 : groups[$0] })
        let reduction: [String: MILOperand] = [
            "axes": .constant(.integers(axes.map(Int32.init))), "keep_dims": .constant(.bool(true)),
        ]
        func add(
            _ type: String, _ inputs: [String: MILOperand], _ result: MILTensorType
        ) -> String {
            builder.operation(type, inputs, name: type, type: result)
        }
        let x = builder.input("x", whole)
        let parts = add(
            "reshape", ["x": .name(x), "shape": .constant(.integers(groups.map(Int32.init)))], split
        )
        let average = add("reduce_mean", ["x": .name(parts)].merging(reduction) { $1 }, mean)
        let difference = add("sub", ["x": .name(parts), "y": .name(average)], split)
        let square = add("square", ["x": .name(difference)], split)
        let variance = add("reduce_mean", ["x": .name(square)].merging(reduction) { $1 }, mean)
        let root = add("sqrt", ["x": .name(variance)], mean)
        let norm = add("real_div", ["x": .name(difference), "y": .name(root)], split)
        try builder.output(norm, as: "out")
        var package = try package(builder.program)
        package.metadata.userDefined["com.github.apple.coremltools.version"] = "9.0"
        return ConverterFinding.findings(in: package).map(\.fault.id)
    }

    @Test func aVarianceIsRightInGroupNormalization() throws {
        #expect(try normalized(axes: [2, 3, 4], groups: [1, 2, 2, 8, 8]) == [])
        #expect(try normalized(axes: [3, 4], groups: [1, 2, 2, 8, 8]) == ["variance-default"])
        #expect(try normalized(axes: [2, 3, 4], groups: [1, 4, 4, 4, 4]) == ["variance-default"])
    }

    @Test func missingArgumentsArePossible() throws {
        let package = try chain(["instance_norm"])
        let finding = try #require(ConverterFinding.findings(in: package).first)
        #expect(finding.certainty == .possible && finding.warning.contains("may have converted"))
    }

    /// Only versions in which the fault was measured, or between them.
    @Test(arguments: [
        ("9.0", true), ("9.0.0", true), ("9.0.1", false), ("10.0", false), ("6.0", false),
        ("9.0b1", false), ("9.-1", false), ("", false), ("9.0.0.0", false),
        ("99999999999999999999", false), (nil, false),
    ])
    func statedVersions(_ version: String?, isAffected: Bool) throws {
        #expect(try found(["softmax", "log"], version: version).isEmpty != isAffected)
    }

    @Test func rangeOfVersions() throws {
        var fault = try #require(ConverterFault.all.first)
        fault = ConverterFault(
            id: fault.id, converter: fault.converter, versions: ["7.2", "8.3.0"],
            operation: fault.operation, condition: fault.condition,
            consequence: fault.consequence, advice: fault.advice)
        let affected = ["7.1", "7.2", "8.0", "8.3", "8.3.1", "9.0"].filter {
            ConverterVersion($0).map(fault.affects) == true
        }
        #expect(affected == ["7.2", "8.0", "8.3"])
    }

    @Test func everySignHasAFault() {
        let known = Set(ConverterFault.all.map(\.id))
        #expect(known.count == ConverterFault.all.count)
        #expect(Set(ConverterFault.signs.keys).isSubset(of: known))
    }
}
