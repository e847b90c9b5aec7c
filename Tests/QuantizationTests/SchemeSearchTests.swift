import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintPackageSupport
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintQuantization
@testable import RetintRuntime

/// The search for a scheme of each weight, beside all choices tried one by one.
@Suite(.sampled()) struct SchemeSearchTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    /// A chain of 1 × 1 convolutions and ReLUs, whose layers matter differently.
    private func chain(_ layers: Int, seed: Int) throws -> MLPackage {
        let shape = [1, Self.channels, 3, 3]
        var net = Sketch(input: shape)
        var x = MILArgument.name("x")
        for layer in 0..<layers {
            var factors = Array(repeating: Float(0.25), count: Self.channels)
            factors[(5 * seed + 11 * layer) % Self.channels] = (seed + layer) % 3 == 0 ? 8 : 1
            x = net.conv(
                x, net.numbers([Self.channels, Self.channels, 1, 1], factors),
                net.numbers([Self.channels]), shape)
            x = net.add("relu", ["x": x], shape)
        }
        return try net.package(returning: x)
    }

    private static let channels = 48

    private static let schemes: [[QuantizationScheme]] = [
        [.init(.int8)], [.init(.int8), .init(.palette(bits: 4))],
        [.init(.int8), .init(.palette(bits: 4)), .init(.palette(bits: 2))],
    ]

    /// The change in bytes of the smallest package within a bound, by trying all.
    private func smallest(
        _ package: MLPackage, _ schemes: [QuantizationScheme], _ bound: Double,
        _ inputs: [[NamedTensor]]
    ) throws -> Int? {
        let names = package.operations("conv").compactMap { $0.inputs["weight"]?.first?.name }
        let choices = [nil] + schemes.map(Optional.some)
        var best: Int?
        let count = names.reduce(1) { count, _ in count * choices.count }
        for number in 1..<count {
            var plan = QuantizationPlan(nil)
            var rest = number
            for name in names {
                plan.weights.byName.updateValue(choices[rest % choices.count], forKey: name)
                rest /= choices.count
            }
            let (quantized, report) = try package.quantized(plan, calibration: inputs)
            let snr = try package.outputChange(to: quantized, on: inputs).snrDb ?? .infinity
            guard snr >= bound else { continue }
            best = min(best ?? .max, report.bytesAfter - report.bytesBefore)
        }
        return best
    }

    @Test(arguments: 0..<20) func findsTheSmallestOfAll(_ number: Int) throws {
        let schemes = Self.schemes[number % 3]
        let layers = [6, 4, 3][number % 3] - number / 3 % 2
        let bound = [4.0, 12, 20, 28, 36][number % 5]
        let package = try chain(layers, seed: number)
        let shape: Shape = [1, Self.channels, 3, 3]
        let inputs = (1..<3).map { [NamedTensor("x", pseudorandomValues(shape, seed: $0))] }
        let best = try smallest(package, schemes, bound, inputs)
        guard let best else {
            #expect(throws: ConversionError.self) {
                try package.searchQuantization(
                    on: inputs, within: .minSNR(bound), schemes: schemes)
            }
            return
        }
        let (_, report) = try package.searchQuantization(
            on: inputs, within: .minSNR(bound), schemes: schemes)
        #expect(report.proof == .optimal)
        #expect(report.change.snrDb ?? .infinity >= bound)
        #expect(report.quantization.bytesAfter - report.quantization.bytesBefore == best)
    }

    /// Weights that are left alone for their size are quantized where that is asked for.
    @Test func aThresholdIsObeyed() throws {
        let package = try chain(2, seed: 1)
        let inputs = [[NamedTensor("x", pseudorandomValues([1, Self.channels, 3, 3], seed: 1))]]
        func compressed(_ threshold: Int?) throws -> Int {
            try package.searchQuantization(
                on: inputs, within: .minSNR(10), schemes: [.init(.int8)], threshold: threshold
            ).report.quantization.compressed.count
        }
        #expect(try compressed(nil) == 2)
        #expect(throws: ConversionError.self) { try compressed(Self.channels * Self.channels) }
        let source = try MLPackage(contentsOf: scratch.export(.iOS16, width: 0.25))
        let photos = [[NamedTensor("lightness", lightness(1))]]
        let counts = try [nil, 0].map { threshold in
            try source.searchQuantization(
                on: photos, within: .minSNR(20), schemes: [.init(.int8)], threshold: threshold
            ).report.sensitivities.count
        }
        #expect(counts[0] < counts[1], "\(counts)")
    }

    /// Each weight has the effect of each scheme on it alone, the most sensitive weight first.
    @Test func sensitivitiesAreThoseOfOneWeightAlone() throws {
        let package = try chain(3, seed: 2)
        let shape: Shape = [1, Self.channels, 3, 3]
        let inputs = (1..<3).map { [NamedTensor("x", pseudorandomValues(shape, seed: $0))] }
        let schemes = Self.schemes[1]
        let found = try package.searchQuantization(
            on: inputs, within: .minSNR(12), schemes: schemes
        ).report.sensitivities
        #expect(found.count == 6 && Set(found.map(\.weight)).count == 3)
        for (index, one) in found.enumerated() {
            let scheme = schemes[index % 2]
            #expect(one.scheme == "\(scheme)")
            var plan = QuantizationPlan(nil)
            plan.weights.byName[one.weight] = scheme
            let (alone, report) = try package.quantized(plan, calibration: inputs)
            let snr = try #require(package.outputChange(to: alone, on: inputs).snrDb)
            let own = try #require(one.snrDb)
            // The package has its biases corrected, too, which helps.
            #expect(own < snr + 6 && own > snr - 16, "\(one) \(snr)")
            #expect(
                one.bytesAfter - one.bytesBefore == report.bytesAfter - report.bytesBefore)
        }
        let best = stride(from: 0, to: 6, by: 2).map { index in
            found[index..<index + 2].compactMap(\.snrDb).max() ?? .infinity
        }
        #expect(best == best.sorted() && best[0] < best[2])
    }

    /// No weight can get a smaller scheme.
    @Test func isMinimal() throws {
        let source = try MLPackage(contentsOf: scratch.export(.iOS16, width: 0.25))
        let photos = [[NamedTensor("lightness", lightness(1))]]
        let schemes = Self.schemes[2]
        // Some weights bear two bits, some do not.
        let coarsest = try source.quantized(
            QuantizationPlan(schemes[2]), calibration: photos
        ).package
        let bound =
            0.2 * (try #require(source.outputChange(to: coarsest, on: photos).deltaE2000))
        let (found, report) = try source.searchQuantization(
            on: photos, within: .meanDeltaE(bound), schemes: schemes)
        #expect(report.proof == .minimal)
        #expect(try #require(report.change.deltaE2000) <= bound)
        let chosen = Dictionary(
            uniqueKeysWithValues: report.quantization.compressed.map { ($0.name, $0) })
        #expect(found.target == .iOS16 && chosen.count > 3)
        var tried = 0
        for weight in report.quantization.compressed.filter({ $0.scheme.hasPrefix("int8") }).prefix(
            4)
        {
            for scheme in schemes.dropFirst() {
                var plan = QuantizationPlan(nil)
                for other in report.quantization.compressed {
                    let own = schemes.first { other.scheme.hasPrefix("\($0.weights)") }
                    plan.weights.byName.updateValue(
                        other.name == weight.name ? scheme : own, forKey: other.name)
                }
                let smaller = try source.quantized(plan, calibration: photos).package
                let change = try source.outputChange(to: smaller, on: photos)
                #expect(try #require(change.deltaE2000) > bound, "\(weight.name) \(scheme)")
                tried += 1
            }
        }
        #expect(tried > 0)
    }

    /// With many photos, the single changes are too many to be measured.
    @Test func manyRunsAreEstimated() throws {
        let source = try MLPackage(contentsOf: scratch.export(.iOS18, width: 0.25))
        let photos = (0..<400).map { [NamedTensor("lightness", lightness($0))] }
        let (_, report) = try source.searchQuantization(on: photos, within: .meanDeltaE(0.005))
        #expect(report.proof == .estimated)
    }
}
