import RetintExport
import RetintMLPackage
import RetintTestSupport
import Testing

@testable import RetintRuntime
@testable import RetintVerification

/// Operations of a float16 package that need float32.
@Suite struct PrecisionSearchTests {
    private static let pico = Network(network: .named("pico-unet", .init(width: 0.25)))
    private static let mobile = Network(
        network: .named("mobile-unet", .init(width: 0.25)), size: 64)
    private static let eccv = Network(network: .named("eccv16", .init(width: 0.0625)))

    private func snr(_ package: MLPackage, _ network: Network) throws -> Double {
        try Model(package).verify(
            against: network.model(), on: network.lightness,
            options: VerificationOptions(tolerance: Tolerance(minSNR: 0))
        ).lowestSNR
    }

    private func mixed(_ network: Network) throws -> MixedPrecision {
        try MixedPrecision(network.package(.float16), original: network.package(.float32))
    }

    /// The whole package in float32 computes what the float32 package does; that needs its weights.
    @Test(arguments: [pico, mobile, eccv], [ExportOptions.Output.ab, .split])
    func allInFloat32(_ network: Network, _ output: ExportOptions.Output) throws {
        let scratch = try TemporaryFolder()
        let half = try network.package(.float16) { $0.output = output }
        let whole = try MixedPrecision(
            half, original: network.package(.float32) { $0.output = output })
        let package = whole.package(keeping: Set(whole.operations.indices))
        try package.write(to: scratch.path("a.mlpackage"))
        let read = try MLPackage(contentsOf: scratch.path("a.mlpackage"))
        #expect(try snr(read, network) > 100 && snr(half, network) < 80)
        #expect(whole.package(keeping: []) == half)
        #expect(read.program.outputs == half.program.outputs)
    }

    /// The package of another converter has other names: its weights are found by their values.
    @Test func weightsOfOtherNamesAreFound() throws {
        let half = try Self.mobile.package(.float16)
        var original = try Self.mobile.package(.float32)
        original.description.metadata.userDefined = [:]
        for index in original.program.operations.indices {
            let operation = original.program.operations[index]
            guard !operation.isConstant else { continue }
            original.program.operations[index].outputs = operation.outputs.map {
                MILNamedType("other_\($0.name)", $0.type)
            }
        }
        let whole = MixedPrecision(half, original: original)
        let package = whole.package(keeping: Set(whole.operations.indices))
        #expect(try snr(package, Self.mobile) > 100)
    }

    /// Only what is named computes in float32, and no value is cast twice.
    @Test(arguments: [pico, mobile, eccv])
    func someInFloat32(_ network: Network) throws {
        let mixed = try mixed(network)
        for start in 0..<3 {
            let kept = Set(stride(from: start, to: mixed.operations.count, by: 3))
            let program = mixed.package(keeping: kept).program
            let names = Set(kept.map { mixed.operations[$0].outputs[0].name })
            let single = program.computing.filter { $0.outputs[0].type.dataType == .float32 }
            let last = program.outputs.filter { !names.contains($0) }
            #expect(Set(single.map { $0.outputs[0].name }).subtracting(last).isSubset(of: names))
            #expect(single.count == kept.count)
            let casts = program.operations.filter { $0.type == "cast" }
            let sources = casts.compactMap { $0.inputs["x"]?.first?.name }
            #expect(Set(sources).count == sources.count)
        }
    }

    /// All smaller sets are tried here once more, where the search says that none is enough.
    @Test func minimumIsAMinimum() throws {
        let network = Self.pico
        let (mixed, model) = (try mixed(network), try network.model())
        let package = mixed.package(keeping: [])
        let before = try snr(package, network)
        var largest = 0
        for gain in [0.5, 1, 2, 3, 4, 6] {
            let search = try Model(package).findPrecision(
                against: model, on: network.lightness,
                options: VerificationOptions(tolerance: Tolerance(minSNR: before + gain)),
                maximumRuns: 600)
            let kept = try #require(search.summary.keptInFloat32)
            #expect(search.summary.runs <= 600 && search.summary.snrBefore == before)
            let cured = try #require(search.package)
            #expect(try snr(cured, network) >= before + gain)
            guard search.summary.minimality == .minimum else { continue }
            let count = mixed.operations.count
            for first in 0..<count {
                guard kept.count > 1 else { break }
                #expect(try snr(mixed.package(keeping: [first]), network) < before + gain)
                for second in 0..<first where kept.count > 2 {
                    let pair = mixed.package(keeping: [first, second])
                    #expect(try snr(pair, network) < before + gain)
                }
            }
            largest = max(largest, min(kept.count, 3))
        }
        #expect(largest > 1)
    }

    @Test func whatIsNotFloat16IsRefused() throws {
        let package = Model(try Self.pico.package(.float32))
        #expect(throws: VerificationError.self) {
            try package.findPrecision(
                against: Self.pico.model(), on: Self.pico.lightness,
                options: VerificationOptions(tolerance: Tolerance(minSNR: 1)))
        }
    }
}
