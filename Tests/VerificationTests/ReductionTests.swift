import Foundation
import RetintExport
import RetintMLPackage
import RetintTensorFiles
import RetintTestSupport
import Testing

@testable import RetintRuntime
@testable import RetintVerification

/// Packages with one wrong operation, reduced to that.
@Suite struct ReductionTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let network: Network
        let type: String
        let parameter: String
        var share = 0.5
        /// Whether the fault is larger than the errors of half precision.
        var inHalf = true
        let change: @Sendable (MILValue) throws -> MILValue

        var testDescription: String { "\(network): \(parameter) of \(type) at \(share)" }
    }

    private static let mobile = Network(
        network: .named("mobile-unet", .init(width: 0.25)), size: 64)
    private static let pico = Network(network: .named("pico-unet", .init(width: 0.25)))
    private static let eccv = Network(network: .named("eccv16", .init(width: 0.0625)))

    // Errors in the depth of a fresh network are too small in its colors to fail.
    private static let faults: [Fault] = [
        Fault(network: mobile, type: "conv", parameter: "weight", share: 0) { try $0.times(1.2) },
        Fault(network: mobile, type: "conv", parameter: "bias", share: 0.2) {
            .floats(try $0.floats().map { $0 + 0.3 }, shape: $0.type.shape, as: $0.type.dataType)
        },
        Fault(network: mobile, type: "conv", parameter: "weight", share: 0.9, inHalf: false) {
            try $0.times(1.2)
        },
        Fault(network: pico, type: "conv", parameter: "pad", share: 0) {
            let pad = try $0.integers()
            return .integers([pad[0] + pad[1], 0, pad[2], pad[3]])
        },
        Fault(network: pico, type: "conv", parameter: "weight", share: 1, inHalf: false) {
            try $0.times(0.5)
        },
        Fault(network: eccv, type: "conv", parameter: "weight", share: 1) { try $0.times(1.5) },
        Fault(network: eccv, type: "conv", parameter: "weight", share: 0.95, inHalf: false) {
            try $0.times(1.5)
        },
        Fault(network: eccv, type: "softmax", parameter: "axis") { _ in .integer(2) },
    ]

    private func reduced(
        _ fault: Fault, _ precision: ExportOptions.Precision
    ) throws -> (name: String, reduction: PackageReduction?) {
        var package = try fault.network.package(precision)
        let name = try package.spoil(
            fault.type, fault.parameter, at: fault.share, fault.change)
        let model = Model(package, name: "spoiled")
        let reduction = try model.reduce(
            against: fault.network.model(), on: fault.network.lightness,
            options: VerificationOptions(
                tolerance: Tolerance(minSNR: precision == .float32 ? 90 : 30)))
        return (name, reduction)
    }

    /// A fault past the bounds on a package of the same network, but within those on a file.
    @Test func theDefaultBoundsFollowFromTheExpectedValues() throws {
        var package = try Self.pico.package(.float32)
        _ = try package.spoil("conv", "bias", at: 1) { bias in
            .floats(try bias.floats().map { $0 + 4e-6 }, shape: bias.type.shape, as: .float32)
        }
        let (model, other) = (Model(package, name: "spoiled"), try Self.pico.model())
        let lightness = Self.pico.lightness
        let report = try model.verify(against: other, on: lightness)
        let error = try #require(report.outputs.first)
        #expect(error.metrics.maxAbs > 2e-4 && error.metrics.maxAbs < 0.01)
        let found = try model.reduce(against: other, on: lightness, options: .init())
        let reduction = try #require(found)
        let standard = Tolerance.standard(.float32, isSameNetwork: true)
        #expect(reduction.summary.tolerance.minPSNR == standard.minPSNR)
        let reference = try Reference(running: other, on: lightness.input(0).tensors[0].data)
        #expect(try model.reduce(against: reference, options: .init()) == nil)
    }

    /// A disk may be full after the first of two files.
    @Test func aPartIsWrittenWholeOrNotAtAll() throws {
        let scratch = try TemporaryFolder()
        let reduction = try #require(try reduced(Self.faults[0], .float32).1)
        try reduction.write(
            to: scratch.path("part.mlpackage"), reference: scratch.path("part.h5"))
        #expect(try scratch.names() == ["part.h5", "part.mlpackage"])
        try FileManager.default.createDirectory(
            atPath: scratch.path("other.mlpackage/letters"), withIntermediateDirectories: true)
        try Data([1]).write(to: URL(filePath: scratch.path("other.mlpackage/letters/1")))
        #expect(throws: (any Error).self) {
            try reduction.write(
                to: scratch.path("other.mlpackage"), reference: scratch.path("other.h5"))
        }
        #expect(try scratch.names() == ["other.mlpackage", "part.h5", "part.mlpackage"])
    }

    @Test(arguments: faults, ExportOptions.Precision.allCases)
    func findsTheWrongOperation(_ fault: Fault, _ precision: ExportOptions.Precision) throws {
        guard precision == .float32 || fault.inHalf else { return }
        let (name, found) = try reduced(fault, precision)
        let reduction = try #require(found)
        let names = reduction.summary.operations.map(\.name)
        #expect(names.contains(name) && names.count <= 3, "\(names) instead of \(name)")
        #expect(reduction.summary.operationCount > 10 && !reduction.summary.failures.isEmpty)
    }
}
