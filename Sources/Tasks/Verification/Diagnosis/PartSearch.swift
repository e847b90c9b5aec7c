import RetintColor
import RetintExport
import RetintGraph
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// Searches for a small part of a package that fails by itself.
///
/// A part computes one value from others; all of their expected values are known. Its end is
/// found by bisection from the outputs backwards, then its beginning from the inputs forwards; the
/// rest is searched value by value.
final class PartSearch {
    private let model: Model
    private let expected: any ExpectedValues
    private let options: VerificationOptions
    private let onRun: (Int) -> Void
    private let parts: ProgramParts
    private let program: ModelProgram
    private let units: ProgramUnits
    /// The run whose values are recorded.
    private let input: VerificationInputs.Input
    private let inputIndex: Int
    /// The values whose expected value is known, in the order of computation.
    private var targets: [String] = []
    /// Their indices among the values of the program.
    private var indices: [String: Int] = [:]
    /// The expected output by the value that the program computes for it.
    private var outputs: [String: TensorData] = [:]
    /// The outputs that fail.
    private let failing: [String]
    private var runs = 0
    private let start = ContinuousClock.now

    /// Nil if the outputs are within the bounds.
    init?(
        _ model: Model, _ expected: any ExpectedValues, _ inputs: VerificationInputs,
        _ options: VerificationOptions, _ onRun: @escaping (Int) -> Void
    ) throws {
        guard let package = model.package else {
            throw VerificationError(
                .badModel, path: model.name, "is a checkpoint; a package can be reduced")
        }
        (self.model, self.expected, self.options) = (model, expected, options)
        (self.onRun, parts, units) = (onRun, ProgramParts(package), try ProgramUnits(package))
        let first = try inputs.input(0)
        program = try verifying { try model.program(on: first.tensors) }
        guard
            let found = try Self.firstFailing(model, expected, inputs, options)
        else { return nil }
        (inputIndex, input, failing) = found
        try expected.prepare(first: first, runs: inputs.count)
        try expected.match(program, on: inputs)
        try findTargets(package)
    }
}

// MARK: What fails

extension PartSearch {
    /// The first run in which an output fails, and the names of those outputs.
    private static func firstFailing(
        _ model: Model, _ expected: any ExpectedValues, _ inputs: VerificationInputs,
        _ options: VerificationOptions
    ) throws -> (Int, VerificationInputs.Input, [String])? {
        var options = options.forSideRun
        options.tolerance?.meanDeltaE = nil
        for index in 0..<inputs.count {
            let input = try inputs.input(index)
            let single = SingleRun(expected, index: index, of: inputs.count)
            let report = try VerificationRun(
                model, against: single, on: VerificationInputs(count: 1) { _ in input }, options,
                observes: false
            ).report()
            let failing = report.outputs.filter { !$0.failures.isEmpty }
            if !failing.isEmpty { return (index, input, failing.map(\.name)) }
        }
        return nil
    }

    private func findTargets(_ package: MLPackage) throws {
        for (index, value) in program.values.enumerated()
        where expected.counterpart(of: index) != nil && parts.positions[value.name] != nil {
            indices[value.name] = index
        }
        try expected.begin(program.roundTripped(input.tensors), at: inputIndex)
        let named = Dictionary(try expected.outputs().map { ($0.name, $0.data) }) { a, _ in a }
        let computed = package.program.outputs
        let pairs =
            named.count == 1 && computed.count == 1
            ? [(computed[0], named.first?.value)] : computed.map { ($0, named[$0]) }
        for case (let name, let data?) in pairs {
            outputs[parts.value(name)] = units.output(colors: data)
        }
        targets = Set(indices.keys).union(outputs.keys).sorted {
            (parts.positions[$0] ?? 0, $0) < (parts.positions[$1] ?? 0, $1)
        }
    }
}

/// The values of one run among several.
private final class SingleRun: ExpectedValues {
    private let all: any ExpectedValues
    private let index: Int
    private let count: Int

    init(_ all: any ExpectedValues, index: Int, of count: Int) {
        (self.all, self.index, self.count) = (all, index, count)
    }

    var source: String { all.source }

    var isSameNetwork: Bool { all.isSameNetwork }

    var isColorizer: Bool { get throws { try all.isColorizer } }

    func prepare(first: VerificationInputs.Input, runs: Int) throws {
        try all.prepare(first: first, runs: count)
    }

    func match(_ program: ModelProgram, on inputs: VerificationInputs) throws {
        try all.match(program, on: inputs)
    }

    func begin(_ inputs: [NamedTensor], at index: Int) throws {
        all.keepOnly([])
        try all.begin(inputs, at: self.index)
    }

    func counterpart(of index: Int) -> Counterpart? { nil }

    func scalars(for index: Int) -> ExpectedScalars? { nil }

    func outputs() throws -> [NamedTensor] { try all.outputs() }
}

// MARK: Searching

extension PartSearch {
    func run() throws -> PackageReduction {
        guard let last = targets.lastIndex(where: { outputs[$0] != nil }),
            let end = try firstEnd(upTo: last)
        else {
            throw VerificationError(
                .mismatch, path: model.name,
                "its outputs fail, but no part that starts with its inputs does; set a bound on "
                    + "the values of outputs, such as --min-snr")
        }
        var trial = end
        var isShorter = true
        while isShorter {
            trial = try latestBeginning(of: trial)
            isShorter = false
            for target in targets(in: trial.part) {
                guard let found = try self.trial(target, givenUpTo: trial.begin), found.isFailing
                else { continue }
                (trial, isShorter) = (found, true)
                break
            }
        }
        return try reduction(try withoutBranches(trial))
    }

    /// A part with its outcome.
    private struct Trial {
        /// Values up to this position are inputs.
        let begin: Int
        let given: Set<String>
        let part: ProgramPart
        let package: MLPackage
        let reference: Reference
        let tolerance: Tolerance
        let report: VerificationReport

        var isFailing: Bool { report.outputs.contains { !$0.failures.isEmpty } }
    }

    /// The part that computes the first failing value, as far as bisection finds it.
    private func firstEnd(upTo last: Int) throws -> Trial? {
        let ends = targets.indices.filter { outputs[targets[$0]] != nil && $0 <= last }
        var whole: Trial?
        for end in ends where whole == nil {
            let found = try trial(targets[end], givenUpTo: -1)
            if found?.isFailing == true { whole = found }
        }
        guard var found = whole, var high = targets.firstIndex(of: found.part.output) else {
            return nil
        }
        var low = -1
        while high - low > 1 {
            let middle = (low + high) / 2
            if let earlier = try trial(targets[middle], givenUpTo: -1), earlier.isFailing {
                (found, high) = (earlier, middle)
            } else {
                low = middle
            }
        }
        return found
    }

    /// The part with the same end that begins as late as possible: first by bisection, then by
    /// trying the remaining positions, from the end.
    private func latestBeginning(of trial: Trial) throws -> Trial {
        guard let end = parts.positions[trial.part.output] else { return trial }
        var (low, high, best) = (trial.begin, end, trial)
        while high - low > 1 {
            let middle = (low + high) / 2
            if let later = try self.trial(trial.part.output, givenUpTo: middle), later.isFailing {
                (best, low) = (later, middle)
            } else {
                high = middle
            }
        }
        for begin in stride(from: end - 1, to: best.begin, by: -1) {
            guard let later = try self.trial(trial.part.output, givenUpTo: begin), later.isFailing
            else { continue }
            return later
        }
        return best
    }

    /// The values within a part whose expected values are known, in order.
    private func targets(in part: ProgramPart) -> [String] {
        let names = Set(part.operations.flatMap(\.outputs).map(\.name))
        return targets.filter { names.contains($0) && $0 != part.output }
    }

    /// Also makes values within a part inputs, as long as the part fails.
    private func withoutBranches(_ trial: Trial) throws -> Trial {
        var best = trial
        for value in targets(in: trial.part).reversed() {
            guard best.part.operations.contains(where: { $0.outputs[0].name == value }),
                let smaller = try self.trial(
                    best.part.output, givenUpTo: best.begin, and: best.given.union([value])),
                smaller.isFailing, smaller.part.operations.count < best.part.operations.count
            else { continue }
            best = smaller
        }
        return best
    }

    private func reduction(_ trial: Trial) throws -> PackageReduction {
        let output = trial.report.outputs[0]
        return PackageReduction(
            package: trial.package, reference: trial.reference,
            summary: .init(
                operations: trial.part.operations.map {
                    .init(name: $0.outputs[0].name, operation: $0.type)
                },
                operationCount: parts.operations.count, inputs: trial.part.inputs,
                output: output.name, recordedOn: input.labels.joined(separator: ", "),
                tolerance: trial.tolerance, failures: output.failures,
                snrDb: output.metrics.snr.isNaN ? nil : output.metrics.snr, runs: runs,
                seconds: (ContinuousClock.now - start) / .seconds(1)))
    }
}

// MARK: Running a part

extension PartSearch {
    /// Runs the part that computes a value from the known ones up to a position.
    ///
    /// - Parameter given: additional values that are inputs.
    /// - Returns: nil if a required input is not known, or not finite.
    private func trial(
        _ target: String, givenUpTo begin: Int, and given: Set<String> = []
    ) throws -> Trial? {
        let part = parts.part(computing: target) { value in
            (self.parts.positions[value] ?? 0) <= begin || given.contains(value)
        }
        let isKnown = part.inputs.allSatisfy { value in
            self.parts.positions[value] == -1 || self.indices[value] != nil
        }
        guard isKnown, let values = try recorded(part) else { return nil }
        let (package, output) = parts.package(part) { values[$0]?.shape.dimensions ?? [] }
        guard let wanted = values[target],
            let reference = try? Reference(
                name: expected.source,
                inputs: part.inputs.compactMap { name in
                    values[name].map { NamedTensor(name, $0) }
                },
                outputs: [NamedTensor(output, wanted)])
        else { return nil }
        runs += 1
        var options = VerificationOptions(
            compute: options.compute, tolerance: try tolerance(for: wanted, target))
        options.layerTolerance = self.options.layerTolerance
        let report = try Model(package, name: model.name, execution: model.execution).compare(
            with: reference, options: options)
        onRun(runs)
        return Trial(
            begin: begin, given: given, part: part, package: package, reference: reference,
            tolerance: report.tolerance, report: report)
    }

    /// The expected values of a part's inputs and output, by the values' names.
    private func recorded(_ part: ProgramPart) throws -> [String: TensorData]? {
        var values: [String: TensorData] = [:]
        let names = part.inputs + (outputs[part.output] == nil ? [part.output] : [])
        let wanted = names.compactMap { indices[$0] }.sorted()
        expected.keepOnly(Set(wanted))
        try expected.begin(program.roundTripped(input.tensors), at: inputIndex)
        for index in wanted {
            guard case .rowMajor(let scalars)? = try expected.scalars(for: index) else {
                return nil
            }
            let value = program.values[index]
            values[value.name] = TensorData(shape: value.shape, scalars: scalars)
        }
        for name in part.inputs where parts.positions[name] == -1 {
            values[name] = try programInput(name)
        }
        values[part.output] = outputs[part.output] ?? values[part.output]
        return values
    }

    /// An input of the package as its program takes it.
    private func programInput(_ name: String) throws -> TensorData? {
        if program.isColorizer { return units.input(lightness: input.tensors[0].data) }
        guard input.tensors.count > 1 else { return input.tensors.first?.data }
        return input.tensors.first { $0.name == name }?.data
    }

    /// The bounds for a value. Absolute bounds shrink with the range of the values, but not below
    /// the rounding error of the arithmetic.
    private func tolerance(for expected: TensorData, _ target: String) throws -> Tolerance {
        var tolerance = try options.bounds(model.precision, self.expected).tolerance
        tolerance.meanDeltaE = nil
        guard outputs[target] == nil else { return tolerance }
        let largest = Double(expected.scalars.max() ?? 0)
        let smallest = Double(expected.scalars.min() ?? 0)
        let scale = (largest - smallest) / LabPlanes.abSpan
        let noise = model.precision.roundingNoise * max(abs(largest), abs(smallest))
        func scaled(_ bound: Double) -> Double { max(bound * scale, min(bound, noise)) }
        tolerance.atol = tolerance.atol.map(scaled)
        tolerance.meanAbs = tolerance.meanAbs.map(scaled)
        return tolerance
    }
}

extension ModelPrecision {
    /// The rounding error of one operation, relative to its largest result.
    fileprivate var roundingNoise: Double {
        switch self {
        case .float32: 1e-5
        case .float16: 4e-3
        case .quantized: 2e-2
        }
    }
}
