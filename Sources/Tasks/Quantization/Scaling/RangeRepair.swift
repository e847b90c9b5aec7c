import RetintEngine
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintRuntime
import RetintTensors

/// What ``MLPackage/repairingRange(on:execution:)`` did.
public struct RangeRepairReport: Hashable, Sendable, Encodable {
    /// A value whose numbers are too large or too small for float16.
    public struct Value: Hashable, Sendable, Encodable {
        /// The name of the value in the package.
        public let name: String
        /// The type of the operation that computes it; `input` for an input, and `sum of` the
        /// operation for a sum inside one, which the largest sum of magnitudes stands for.
        public let operation: String
        /// The largest magnitude on the given inputs before the repair.
        public let before: Float
        /// The largest magnitude after it.
        public let after: Float
    }

    /// The channels whose factor is not 1.
    public internal(set) var scaledChannels = 0
    /// The constants that were changed.
    public internal(set) var scaledConstants = 0
    /// The values that had been too large for float16, or so small that they lost digits.
    public internal(set) var repaired: [Value] = []
    /// The values that still are: no factor can be moved out of them.
    public internal(set) var remaining: [Value] = []
    /// The operations that would need float32 before the repair: those that compute or use numbers
    /// that are too large for float16.
    public internal(set) var overflowingBefore = 0
    /// The operations that would need float32 after it.
    public internal(set) var overflowingAfter = 0
    /// Whether the outputs in float32 have the same bits before and after, on the given inputs; if
    /// not, the package was left as it is.
    public internal(set) var isExact = true
}

extension MLPackage {
    /// The package with powers of two moved between its weights, so that values fit float16.
    ///
    /// Where the channels of a value are too large for float16, or so small that its subnormal
    /// numbers lose digits, the weights that compute them are multiplied by a power of two, and
    /// those that use them are divided by it. In float32 that is exact: no bit of the outputs
    /// changes, which is checked on the inputs.
    ///
    /// - Parameters:
    ///   - inputs: the inputs of runs, at least one; L in 0…100 for lightness.
    ///   - execution: how the network runs on the inputs.
    /// - Throws: `ConversionError` without inputs, or if a value is not finite; `ModelError` if the
    ///   package cannot be run on the inputs.
    public func repairingRange(
        on inputs: [[NamedTensor]], execution: Execution = .init()
    ) throws -> (package: MLPackage, report: RangeRepairReport) {
        guard !inputs.isEmpty else {
            throw ConversionError(
                place: "repair",
                rule: "the ranges of values come from runs, but there are no inputs",
                remedy: "Pass at least one photo.")
        }
        let model = Model(self, execution: execution)
        let classes = ChannelClasses(program)
        let maxima = try ChannelMaxima(model, classes, on: inputs, hasSums: true)
        var scaling = ChannelScaling(classes)
        let sums = maxima.sumsByClass(classes)
        for (id, maximum) in maxima.byClass(classes) {
            scaling.set(id, to: HalfRange.exponent(for: maximum, sum: sums[id] ?? 0))
        }
        var result = self
        result.program = try scaling.scaledProgram()
        if result != self, try !hasOutputs(of: result, on: inputs, execution) {
            var report = RangeRepairReport(ChannelScaling(classes), maxima)
            report.isExact = false
            return (self, report)
        }
        return (result, RangeRepairReport(scaling, maxima))
    }

    /// Whether another package's outputs in float32 have the same bits.
    func hasOutputs(
        of other: MLPackage, on inputs: [[NamedTensor]], _ execution: Execution
    ) throws -> Bool {
        let (first, second) = (
            try ModelProgram(Model(self, execution: execution).graph(on: inputs[0])),
            try ModelProgram(Model(other, execution: execution).graph(on: inputs[0]))
        )
        return try inputs.allSatisfy { input in
            zip(try first.finiteOutputs(of: input), try second.finiteOutputs(of: input))
                .allSatisfy { $0.data.hasBits(of: $1.data) }
        }
    }
}

extension TensorData {
    fileprivate func hasBits(of other: TensorData) -> Bool {
        zip(scalars, other.scalars).allSatisfy { $0.bitPattern == $1.bitPattern }
    }
}

/// Which magnitudes suit float16.
private enum HalfRange {
    static let limit: Float = 65504
    /// Above these, a channel is made smaller, so that other inputs have room; below, it is made
    /// larger: numbers of a fraction of the largest one would be subnormal, below 2^-14.
    private static let (room, least): (Float, Float) = (0x1p12, 0x1p-6)

    static func suits(_ maximum: Float) -> Bool {
        maximum == 0 || (least...limit).contains(maximum)
    }

    /// The exponent of the factor for a channel with this largest magnitude: as much as is needed
    /// downwards, because other values share it, and up to 1.
    ///
    /// - Parameter sum: the largest one of the channel's elements inside an operation: it only has
    ///   to fit, where that leaves the elements their digits.
    static func exponent(for maximum: Float, sum: Float = 0) -> Int {
        let own =
            maximum >= room
            ? Int(room.exponent) - 1 - Int(maximum.exponent)
            : maximum > 0 && maximum < least ? -Int(maximum.exponent) : 0
        let scaled = Float(sign: .plus, exponent: own, significand: sum)
        guard scaled > limit, scaled.isFinite, maximum > 0 else { return own }
        let lowest = Int(least.exponent) - Int(maximum.exponent)
        return max(own + 14 - Int(scaled.exponent), min(own, lowest))
    }
}

extension ChannelScaling {
    /// Magnitudes of channels, with their factors.
    fileprivate func scaled(
        _ magnitudes: [Float], _ channels: ChannelClasses.Channels
    ) -> [Float] {
        zip(magnitudes, channels.ids).map { magnitude, id in
            Float(sign: .plus, exponent: exponent(id), significand: magnitude)
        }
    }
}

extension RangeRepairReport {
    fileprivate init(_ scaling: ChannelScaling, _ maxima: ChannelMaxima) {
        let classes = scaling.classes
        var (large, largeAfter): (Set<String>, Set<String>) = ([], [])
        // The results of operations whose sums are too large; what uses these need not be.
        var (sums, sumsAfter): (Set<String>, Set<String>) = ([], [])
        let producers = classes.program.operations.byOutput
        for (name, own) in maxima.maxima.sorted(by: { $0.key < $1.key }) {
            guard let channels = classes.values[name] else { continue }
            let after = scaling.scaled(own, channels)
            let value = Value(
                name: name, operation: producers[name]?.type ?? "input", before: own.max() ?? 0,
                after: after.max() ?? 0)
            if value.before > HalfRange.limit { large.insert(name) }
            if value.after > HalfRange.limit { largeAfter.insert(name) }
            if !HalfRange.suits(value.after) {
                remaining.append(value)
            } else if !HalfRange.suits(value.before) {
                repaired.append(value)
            }
            scaledChannels += channels.ids.count { scaling.exponent($0) != 0 }
        }
        for (result, (sum, bounds)) in maxima.sums.sorted(by: { $0.key < $1.key }) {
            guard let channels = classes.values[sum.value] else { continue }
            let after = scaling.scaled(bounds, channels)
            let value = Value(
                name: result, operation: "sum of \(sum.operation)", before: bounds.max() ?? 0,
                after: after.max() ?? 0)
            guard value.before > HalfRange.limit || value.after > HalfRange.limit else { continue }
            if value.before > HalfRange.limit { sums.insert(result) }
            if value.after > HalfRange.limit {
                sumsAfter.insert(result)
                remaining.append(value)
            } else {
                repaired.append(value)
            }
        }
        scaledConstants = classes.constants.count { constant in
            classes.value(of: constant).map {
                scaling.exponents(of: constant, $0).contains { $0 != 0 }
            } ?? false
        }
        for constant in classes.largeConstants(HalfRange.limit) {
            remaining.append(constant)
            large.insert(constant.name)
            largeAfter.insert(constant.name)
        }
        overflowingBefore = classes.program.computing.count {
            $0.touches(large) || $0.computes(sums)
        }
        overflowingAfter = classes.program.computing.count {
            $0.touches(largeAfter) || $0.computes(sumsAfter)
        }
    }
}

extension ChannelClasses {
    /// The constants with magnitudes above a limit that take up no factors, such as variances.
    fileprivate func largeConstants(_ limit: Float) -> [RangeRepairReport.Value] {
        let scaled = Set(
            constants.compactMap {
                program.operations[$0.operation].inputs[$0.parameter]?.first?.name
            })
        return constantValues.sorted { $0.key < $1.key }.compactMap { name, value in
            guard value.type.dataType.isFloat, !scaled.contains(name),
                let largest = try? value.floats().lazy.map(\.magnitude).max(), largest > limit
            else { return nil }
            return .init(name: name, operation: "const", before: largest, after: largest)
        }
    }
}

extension MILOperation {
    fileprivate func computes(_ values: Set<String>) -> Bool {
        outputs.contains { values.contains($0.name) }
    }

    fileprivate func touches(_ values: Set<String>) -> Bool {
        computes(values)
            || inputs.values.joined().contains { $0.name.map(values.contains) ?? false }
    }
}
