import Foundation
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

    /// The number of layers that `RETINT_TESTS_LAYERS` asks for, with one scheme: 12 have 4,096
    /// choices, which takes a minute for each network.
    private static let layers = ProcessInfo.processInfo.environment["RETINT_TESTS_LAYERS"].flatMap {
        Int($0)
    }

    /// The change in bytes of the smallest package within a bound, by trying all.
    private func smallest(
        _ package: MLPackage, _ schemes: [QuantizationScheme], _ bound: Double,
        _ inputs: [[NamedTensor]]
    ) throws -> Int? {
        try least(package, schemes, bound, inputs) { _, report in
            Double(report.bytesAfter - report.bytesBefore)
        }.map { Int($0) }
    }

    /// The least expense of a package within a bound, by trying all.
    private func least(
        _ package: MLPackage, _ schemes: [QuantizationScheme], _ bound: Double,
        _ inputs: [[NamedTensor]], integers: ActivationScheme? = nil,
        _ expense: ([WeightForm], QuantizationReport) throws -> Double
    ) throws -> Double? {
        let layers = package.operations("conv")
        let names = layers.compactMap { $0.inputs["weight"]?.first?.name }
        var choices = [WeightForm()] + schemes.map { WeightForm(scheme: $0) }
        if let integers { choices.append(WeightForm(scheme: .init(.int8), inputs: integers)) }
        var best: Double?
        let count = names.reduce(1) { count, _ in count * choices.count }
        for number in 1..<count {
            var plan = QuantizationPlan(nil)
            var (rest, chosen) = (number, [WeightForm]())
            for (name, layer) in zip(names, layers) {
                let choice = choices[rest % choices.count]
                chosen.append(choice)
                plan.weights.byName.updateValue(choice.scheme, forKey: name)
                if let inputs = choice.inputs { plan.activations.byName[layer.name] = inputs }
                rest /= choices.count
            }
            let (quantized, report) = try package.quantized(plan, calibration: inputs)
            let snr = try package.outputChange(to: quantized, on: inputs).snrDb ?? .infinity
            guard snr >= bound else { continue }
            best = min(best ?? .infinity, try expense(chosen, report))
        }
        return best
    }

    @Test(arguments: 0..<20) func findsTheSmallestOfAll(_ number: Int) throws {
        let schemes = Self.schemes[Self.layers == nil ? number % 3 : 0]
        let layers = Self.layers ?? [6, 4, 3][number % 3] - number / 3 % 2
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

    /// A table of latencies decides instead of the size: int8 is slower than float in some layers.
    @Test(arguments: 0..<6, [false, true])
    func findsTheFastestOfAll(_ number: Int, hasIntegers: Bool) throws {
        let (schemes, layers) = (Self.schemes[1], hasIntegers ? 3 : 4)
        let integers = hasIntegers ? ActivationScheme(.int8) : nil
        var forms = [WeightForm()] + schemes.map { WeightForm(scheme: $0) }
        if let integers { forms.append(WeightForm(scheme: .init(.int8), inputs: integers)) }
        let package = try chain(layers, seed: number)
        let inputs = [[NamedTensor("x", pseudorandomValues([1, Self.channels, 3, 3], seed: 1))]]
        let weights = package.operations("conv").compactMap { $0.inputs["weight"]?.first?.name }
        func time(_ layer: Int, _ form: WeightForm) -> Double {
            let choice = forms.firstIndex(of: form) ?? 0
            let eighths: Int = 1 + (number * 7 + layer * 5 + choice * 3) % 11
            return Double(eighths) / 8
        }
        var lines = ["operation, weights, milliseconds"]
        for (layer, weight) in weights.enumerated() {
            for form in forms {
                let name = form.inputs == nil ? "\(form)" : "w8a8"
                lines.append("\(weight), \(name), \(time(layer, form))")
            }
        }
        let path = scratch.path("latency.csv")
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let table = try LatencyTable(contentsOf: path)
        let bound = [8.0, 16, 24][number % 3]
        let best = try least(package, schemes, bound, inputs, integers: integers) { chosen, _ in
            chosen.enumerated().reduce(0) { $0 + time($1.offset, $1.element) }
        }
        guard let best else {
            #expect(throws: ConversionError.self) {
                try package.searchQuantization(
                    on: inputs, within: .minSNR(bound), schemes: schemes, latencies: table,
                    activations: integers)
            }
            return
        }
        let (found, report) = try package.searchQuantization(
            on: inputs, within: .minSNR(bound), schemes: schemes, latencies: table,
            activations: integers)
        let latency = try #require(report.latency)
        #expect(report.proof == .optimal && latency.millisecondsAfter == best)
        let before = (0..<layers).reduce(0) { $0 + time($1, WeightForm()) }
        #expect(latency.millisecondsBefore == before)
        // What is said is what the package has, and does.
        #expect(found.operations("quantize").count == report.quantization.activations.count)
        #expect(report.plan.activations.byName.isEmpty == report.quantization.activations.isEmpty)
        let snr = try package.outputChange(to: found, on: inputs).snrDb ?? .infinity
        #expect(snr >= bound)
    }

    /// Weights that a table does not name stay as they are, and so do schemes that it does not
    /// have.
    @Test func onlyKnownTimesCount() throws {
        let package = try chain(3, seed: 4)
        let inputs = [[NamedTensor("x", pseudorandomValues([1, Self.channels, 3, 3], seed: 1))]]
        let weights = package.operations("conv").compactMap { $0.inputs["weight"]?.first?.name }
        func search(_ lines: [String]) throws -> QuantizationSearchReport {
            let text = (["operation,weights,milliseconds"] + lines).joined(separator: "\r\n")
            let path = scratch.path("latency.csv")
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            return try package.searchQuantization(
                on: inputs, within: .minSNR(3), schemes: Self.schemes[1],
                latencies: LatencyTable(contentsOf: path)
            ).report
        }
        let report = try search(["\(weights[1]),float,2", "\(weights[1]),int8,1.5", ""])
        #expect(report.quantization.compressed.map(\.name) == [weights[1]])
        #expect(report.quantization.compressed.map(\.scheme) == ["int8 per-channel"])
        #expect(report.latency == .init(millisecondsBefore: 2, millisecondsAfter: 1.5))
        #expect(
            report.quantization.skipped.contains {
                $0.name == weights[0] && $0.reason.contains("does not name it")
            })
        for lines in [
            ["\(weights[1]),int8,1.5"], ["\(weights[1]),float,-1"], ["\(weights[1]),float,nan"],
            ["\(weights[1]),float"], ["\(weights[1]),float,1", "\(weights[1]),float,1"],
            [",float,1"], ["\(weights[1]),float,1", "conv,int8,0.5"],
            ["\(weights[1]),float,1", "\(weights[1]),int9,0.5"],
        ] {
            #expect(throws: ConversionError.self, "\(lines)") { try search(lines) }
        }
    }

    /// The bound is one on the difference from the targets, to which the package itself has some.
    @Test func targetsReplaceTheOwnOutputs() throws {
        let package = try chain(3, seed: 2)
        let inputs = (1..<3).map {
            [NamedTensor("x", pseudorandomValues([1, Self.channels, 3, 3], seed: $0))]
        }
        let model = Model(package, execution: .init())
        let targets = try inputs.map { run in
            try model.run(run).map { output in
                var data = output.data
                for index in data.scalars.indices where index % 2 == 0 {
                    data.scalars[index] *= 1.1
                }
                return NamedTensor(output.name, data)
            }
        }
        let own = try #require(
            OutputProbe(model, inputs: inputs, targets: targets).change(to: [:], onFirst: 2).snrDb)
        #expect(own > 15 && own < 30)
        func search(_ bound: Double) throws -> QuantizationSearchReport {
            try package.searchQuantization(
                on: inputs, within: .minSNR(bound), schemes: Self.schemes[1], targets: targets
            ).report
        }
        let report = try search(own - 3)
        #expect(report.proof == .optimal && !report.quantization.compressed.isEmpty)
        #expect(report.change.snrDb.map { $0 >= own - 3 && $0 < own } == true)
        #expect(throws: ConversionError.self) { try search(own + 3) }
        let fewer = Array(targets.dropLast())
        #expect(throws: ConversionError.self) {
            try package.searchQuantization(on: inputs, within: .minSNR(9), targets: fewer)
        }
        // The only output may have another name, but no other shape.
        let renamed = targets.map { $0.map { NamedTensor("other", $0.data) } }
        let same = try package.searchQuantization(
            on: inputs, within: .minSNR(own - 3), schemes: Self.schemes[1], targets: renamed
        ).report
        #expect(same.change == report.change)
        let reshaped = targets.map {
            $0.map {
                NamedTensor(
                    $0.name, TensorData(shape: [$0.data.shape.count], scalars: $0.data.scalars))
            }
        }
        #expect(throws: ConversionError.self) {
            try package.searchQuantization(on: inputs, within: .minSNR(9), targets: reshaped)
        }
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
