import Foundation
import RetintExport
import RetintFloat64
import RetintGraph
import RetintTensors
import Testing

@testable import RetintRuntime
@testable import RetintVerification

/// Digits, shares and reproducibility of surveys of arithmetics.
@Suite struct ArithmeticSurveyTests {
    private static let pico = Network(network: .named("pico-unet", .init(width: 0.25)))

    /// (x + c) − c has no digits left where c is larger than x by the format's precision.
    @Test(arguments: [(false, 1e7, 0.3), (true, 2000.0, 0.3)])
    func cancellationLeavesNoDigits(_ isHalf: Bool, _ large: Double, _ size: Double) throws {
        let network = SmallNetwork(
            precision: isHalf ? .float16 : .float32, shape: [1, 256],
            input: scattered(256, -size...size)
        ) { ($0 + Float(large)) - Float(large) }
        let survey = try network.survey()
        #expect(survey.outputs[0].digitsAgainstFloat64 < 0.3, "\(survey.outputs)")
        #expect(survey.fragile.first?.operation == "sub")
        #expect(survey.layers.map(\.operation) == ["add", "sub"])
        #expect(survey.layers[0].digits > 3)
    }

    /// Values that all arithmetics compute alike have all digits.
    @Test func exactValuesHaveAllDigits() throws {
        let network = SmallNetwork(
            precision: .float16, shape: [1, 8], input: Array(0..<8).map(Double.init)
        ) { $0 * 2 + 1 }
        let survey = try network.survey()
        #expect(survey.outputs[0].digits == 15.95 && survey.fragile.isEmpty)
        #expect(survey.passing.passed == 24 && survey.worst?.snrDb == .infinity)
    }

    /// The digits of rounding alone are those of the formats.
    @Test func roundingHasTheDigitsOfItsFormat() throws {
        let network = SmallNetwork(
            precision: .float16, shape: [1, 4096], input: scattered(4096, 0.5...1)
        ) { $0 * 0.7 }
        for (results, steps, digits) in [
            ("float16", "float16", 3.6), ("float16", "float32", 3.6), ("float32", "float32", 7.5),
        ] {
            let arithmetic = try #require(
                DeviceArithmetic("results=\(results) sums=\(steps) steps=\(steps)"))
            let value = try network.survey([arithmetic]).outputs[0]
            #expect(abs(value.digitsAgainstFloat64 - digits) < 0.4, "\(value)")
            #expect(value.digits == 15.95)
        }
    }

    @Test func digitsAreThoseOfTheSpreadAndOfTheError() {
        var digits = SignificantDigits(runs: 2)
        digits.add([[1, 0], [1.2, 0]], first: 0, reference: [1.1, 0])
        #expect(abs(digits.digits - -log10(0.02.squareRoot() / 1.1)) < 1e-12)
        #expect(abs(digits.digitsAgainstFloat64 - -log10(0.1 / 1.1)) < 1e-12)
        #expect(abs(digits.digits(ofRun: 1) - -log10(0.1 / 1.1)) < 1e-12)
        #expect(digits.fewest == digits.digits && digits.nonFinite == 0)
        digits.add([[.infinity], [3]], first: 0, reference: [3])
        #expect(digits.fewest == 0 && digits.nonFinite == 1 && digits.digits(ofRun: 0) == 0)
        var masked = SignificantDigits(runs: 1)
        masked.add([[-65_504, 2]], first: 0, reference: [-.infinity, 2])
        #expect(masked.digitsAgainstFloat64 == 15.95)
    }

    private func survey(
        _ package: Model, _ arithmetics: [DeviceArithmetic], minSNR: Double
    ) throws -> VerificationReport.ArithmeticSurvey {
        let (model, inputs) = (try Self.pico.model(), Self.pico.lightness)
        var options = VerificationOptions()
        options.tolerance = Tolerance(minSNR: minSNR)
        let report = try package.verify(against: model, on: inputs, options: options)
        return try package.survey(
            arithmetics, seed: 3, against: model, on: inputs, report: report)
    }

    /// The share depends on the bound; an arithmetic that is named computes the same again.
    @Test func aNetworkIsJudgedByItsBounds() throws {
        let package = Model(try Self.pico.package(.float16))
        let arithmetics = package.arithmetics(20, seed: 3)
        let loose = try survey(package, arithmetics, minSNR: 10)
        #expect(loose.passing.passed == 20 && loose.seed == 3)
        let snrs = loose.trials.compactMap(\.snrDb).sorted()
        #expect(snrs.count == 20 && snrs.first! < snrs.last!)
        let middle = (snrs[9] + snrs[10]) / 2
        let strict = try survey(package, arithmetics, minSNR: middle)
        #expect(strict.passing.passed == 10)
        #expect(strict.trials.map(\.snrDb) == loose.trials.map(\.snrDb))
        let worst = try #require(loose.worst)
        #expect(worst.snrDb == snrs.first)
        let named = try #require(DeviceArithmetic(worst.arithmetic.description))
        let again = try survey(package, [named], minSNR: 10)
        #expect(again.trials[0].snrDb == worst.snrDb)
    }

    /// In float32 to the nearest, a float32 package computes what the engine does.
    @Test func float32IsTheEnginesArithmetic() throws {
        let package = Model(try Self.pico.package(.float32))
        let found = try survey(package, [DeviceArithmetic()], minSNR: 100)
        #expect(found.passing.passed == 1)
        #expect(found.outputs[0].digitsAgainstFloat64 > 5.5)
        let drawn = package.arithmetics(50, seed: 1)
        #expect(drawn.allSatisfy { $0.results == .float32 && $0.sums == .float32 })
    }

    /// A checkpoint declares float32, and can be asked about float16.
    @Test func checkpointsAreRoundedAsAsked() throws {
        let (model, inputs) = (try Self.pico.model(), Self.pico.lightness)
        var options = VerificationOptions()
        (options.tolerance, options.compute) = (Tolerance(minSNR: 10), .float16)
        let report = try model.verify(against: model, on: inputs, options: options)
        let arithmetics = model.arithmetics(6, compute: .float16, seed: 0)
        let survey = try model.survey(
            arithmetics, against: model, on: inputs, report: report)
        #expect(survey.outputs[0].digits < 4 && survey.outputs[0].digits > 1)
        let results = try #require(DeviceArithmetic("results=float16 sums=float32 steps=float32"))
        let rounded = try model.survey([results], against: model, on: inputs, report: report)
        #expect(rounded.outputs[0].digitsAgainstFloat64 < 4)
        let single = try model.survey(
            [DeviceArithmetic()], against: model, on: inputs, report: report)
        #expect(single.outputs[0].digitsAgainstFloat64 > 5.5)
    }

    /// Neither threads nor the number of arithmetics side by side change a value.
    @Test func threadsDoNotMatter() throws {
        var package = Model(try Self.pico.package(.float16))
        let arithmetics = package.arithmetics(18, seed: 8)
        let found = try [1, 3].map { threads in
            package.execution.threads = threads
            return try survey(package, arithmetics, minSNR: 10)
        }
        #expect(found[0].trials == found[1].trials)
        #expect(found[0].layers == found[1].layers)
        func evaluation() throws -> ArithmeticEvaluation {
            try ArithmeticEvaluation(
                package, on: Self.pico.lightness.input(0).tensors, .float16)
        }
        #expect(try evaluation().runsAtOnce == 16)
        package.execution.memoryLimit = try 5 * 8 * evaluation().graph.largestLiveCount
        #expect(try evaluation().runsAtOnce == 4)
        let narrow = try survey(package, arithmetics, minSNR: 10)
        #expect(narrow.trials == found[0].trials)
        let (few, all) = (narrow.outputs[0], found[0].outputs[0])
        #expect(few.digitsAgainstFloat64 == all.digitsAgainstFloat64)
        #expect(abs(few.digits - all.digits) < 0.2, "\(few) instead of \(all)")
        let last = try survey(package, Array(arithmetics.suffix(2)), minSNR: 10)
        #expect(last.trials == found[0].trials.suffix(2))
    }

    /// Saved surveys are read again, and checked.
    @Test func surveysAreSaved() throws {
        let network = SmallNetwork(
            precision: .float16, shape: [1, 64], input: scattered(64, -8...14)
        ) { log(exp($0) + 1) * 0.5 }
        let survey = try network.survey(5)
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        let data = try encoder.encode(survey)
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        let read = try decoder.decode(VerificationReport.ArithmeticSurvey.self, from: data)
        #expect(read.trials == survey.trials && read.fragile == survey.fragile)
        #expect(read.layers == survey.layers && read.outputs == survey.outputs)
    }
}
