import RetintEngine
import RetintGraph
import RetintRuntime
import RetintTensors

extension VerificationReport {
    /// The range and the error of an intermediate value over all runs.
    public struct Layer: Sendable {
        /// The value: its name, operation and shape.
        public let value: ComputedValue
        /// The largest magnitude, and the first NaN or infinity.
        public let range: VerificationReport.ValueRange
        /// Nil if the reference has no such value.
        public let error: VerificationReport.LayerError?

        /// The same measurements, checked against other bounds.
        func judged(by tolerance: LayerTolerance) -> VerificationReport.Layer {
            VerificationReport.Layer(
                value: value, range: range, error: error?.judged(by: tolerance))
        }
    }
}

// A flat object: the value's own keys, and those of its range and error.
extension VerificationReport.Layer: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, operation, module, node, shape, inputs, range, error
    }

    /// Decodes the figures; no bound is judged.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        value = ComputedValue(
            name: try container.decode(String.self, forKey: .name),
            operation: try container.decode(String.self, forKey: .operation),
            module: try container.decode(String.self, forKey: .module),
            node: try container.decodeIfPresent(String.self, forKey: .node),
            shape: Shape(try container.decode([Int].self, forKey: .shape)),
            inputs: try container.decode([Int].self, forKey: .inputs))
        range = try container.decode(VerificationReport.ValueRange.self, forKey: .range)
        error = try container.decodeIfPresent(VerificationReport.LayerError.self, forKey: .error)
    }

    /// Encodes the figures, without the judgement.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value.name, forKey: .name)
        try container.encode(value.operation, forKey: .operation)
        try container.encode(value.module, forKey: .module)
        try container.encodeIfPresent(value.node, forKey: .node)
        try container.encode(value.shape.dimensions, forKey: .shape)
        try container.encode(value.inputs, forKey: .inputs)
        try container.encode(range, forKey: .range)
        try container.encodeIfPresent(error, forKey: .error)
    }
}

extension VerificationReport {
    /// The range of an intermediate value's scalars over all runs.
    public struct ValueRange: Hashable, Sendable, Codable {
        /// The largest finite float16 value.
        public static let largestHalf = 65504.0

        /// The largest magnitude of the finite scalars.
        public private(set) var largest = 0.0
        /// The NaN and infinite scalars; nil if all are finite.
        public private(set) var nonFinite: NonFinite?
        /// The name of the first input for which a scalar was NaN or infinite.
        public private(set) var nonFiniteIn: String?

        /// The largest magnitude as a share of float16's range; float16 overflows above 1.
        public var shareOfHalf: Double { largest / Self.largestHalf }

        /// - Parameter run: the name of the input.
        mutating func add(_ value: ObservedValue, in run: String) {
            let magnitude = value.largestMagnitude
            if magnitude.isFinite {
                largest = max(largest, Double(magnitude))
            } else {
                add(value.data, in: run)
            }
        }

        private mutating func add(_ data: TensorData, in run: String) {
            guard let found = NonFinite(in: data) else { return }
            if nonFinite == nil {
                (nonFinite, nonFiniteIn) = (found, run)
            } else {
                nonFinite?.add(found)
            }
            for scalar in data.scalars where scalar.isFinite {
                largest = max(largest, Double(scalar.magnitude))
            }
        }
    }
}

extension VerificationReport {
    /// How the expected value of an intermediate value was found, the most certain way first.
    public enum Pairing: String, Hashable, Sendable, Codable, CaseIterable {
        /// Both come from the same recorded node of the network.
        case recorded
        /// They have the same name.
        case name
        /// They have the same elements, nearly, and no others do.
        case values
        /// They have the same operation and shape, and are computed from values that are paired.
        case structure
    }
}

extension VerificationReport {
    /// The error of an intermediate value over all runs.
    ///
    /// All values are NaN if any compared scalar is NaN or infinite.
    public struct LayerError: Hashable, Sendable, Codable {
        /// The name of the expected value: a value of the other model, or a module of the original.
        public let expected: String
        /// The largest absolute error.
        public let maxAbs: Double
        /// The mean absolute error.
        public let meanAbs: Double
        /// The largest error relative to the largest expected magnitude.
        public let relative: Double
        /// The PSNR in dB; its peak is the largest expected magnitude.
        public let psnr: Double
        /// The SNR in dB.
        public let snr: Double
        /// The cosine similarity of computed and expected scalars.
        public let cosine: Double
        /// How the expected value was found; nil in results that older versions saved.
        public let pairing: VerificationReport.Pairing?
        /// The SNR, in dB, of the expected value in float32 against float64; nil if it was not
        /// measured.
        public let rounding: Double?
        /// Whether the error is within the tolerance.
        public private(set) var holds = false

        private enum CodingKeys: String, CodingKey {
            case expected, maxAbs, meanAbs, relative, psnr, snr, cosine
            case pairing, rounding = "roundingSnrDb"
        }

        init(_ sums: ErrorSums, _ counterpart: Counterpart, tolerance: LayerTolerance) {
            expected = counterpart.name
            (pairing, rounding) = (counterpart.pairing, counterpart.rounding)
            let isFinite = sums.isFinite
            maxAbs = isFinite ? sums.maxAbs : .nan
            meanAbs = isFinite ? sums.meanAbs : .nan
            relative = isFinite ? sums.relative : .nan
            psnr = isFinite ? sums.psnr(peak: sums.maxExpected) : .nan
            snr = isFinite ? sums.snr : .nan
            cosine = isFinite ? sums.cosine : .nan
            holds = isWithin(tolerance)
        }

        /// The same measurements, checked against other bounds.
        func judged(by tolerance: LayerTolerance) -> VerificationReport.LayerError {
            var result = self
            result.holds = isWithin(tolerance)
            return result
        }

        /// NaN is not within any tolerance.
        private func isWithin(_ tolerance: LayerTolerance) -> Bool {
            !maxAbs.isNaN && checks(tolerance, of: "").allSatisfy { $0.failure == nil }
        }

        /// - Parameter name: the name of the intermediate value.
        func checks(_ tolerance: LayerTolerance, of name: String) -> [VerificationCheck] {
            var checks: [VerificationCheck] = []
            let ratio = tolerance.maxRoundingRatio == nil ? nil : roundingRatio
            // Where it is known what float32 itself loses, that decides.
            if let bound = tolerance.maxRelative, ratio == nil {
                let failure = failure(
                    "the largest error relative to the largest expected value", relative,
                    above: bound)
                checks.append(VerificationCheck(.layerError, name, failure))
            }
            if let bound = tolerance.minSNR {
                checks.append(
                    VerificationCheck(.layerSNR, name, failure("the SNR", snr, below: bound)))
            }
            if let bound = tolerance.maxRoundingRatio, let ratio {
                checks.append(
                    VerificationCheck(.layerRounding, name, roundingFailure(ratio, above: bound)))
            }
            return checks
        }
    }
}

extension VerificationReport.LayerError {
    /// Whether the value certainly belongs to the expected one, and what float32 loses is known:
    /// not for values that are infinite or zero in both models.
    var isCertain: Bool {
        pairing == .recorded && hasRounding
    }

    /// Whether the value differs so little from the expected one that both mean the same, but more
    /// than another form of the same operation; and what float32 loses is known.
    var isNearlyEqual: Bool { hasRounding && (1e-5...0.05).contains(relative) }

    private var hasRounding: Bool {
        guard let rounding else { return false }
        return !rounding.isNaN && rounding > -.infinity && (maxAbs == 0 || relative.isFinite)
    }

    /// The root mean square error, as a multiple of what float32 loses in the reference network;
    /// nil if that was not measured.
    public var roundingRatio: Double? {
        rounding.map { RetintVerification.roundingRatio(snr, to: $0) }
    }
}

extension VerificationReport {
    /// The first intermediate value that exceeds the tolerance.
    ///
    /// If the error of its inputs is much smaller, the error arises in the operation itself and is
    /// not propagated.
    public struct FirstDeparture: Hashable, Sendable {
        /// The index of the value in ``VerificationReport/layers``.
        public let layer: Int
        /// The indices of the nearest compared values that it is computed from; empty if there are
        /// only the model's inputs.
        public let inputs: [Int]

        init?(in layers: [VerificationReport.Layer]) {
            let departures = layers.indices.lazy.filter { layers[$0].error?.holds == false }
            guard let layer = departures.first(where: { !Self.isProbablyAnother($0, in: layers) })
            else { return nil }
            self.layer = layer
            inputs = nearestCompared(before: layer, in: layers)
        }

        /// Whether a value was paired by its place alone, and all that is computed from it is
        /// right: then it is probably the expected one in another form, such as scaled before a
        /// product instead of after it.
        private static func isProbablyAnother(
            _ layer: Int, in layers: [VerificationReport.Layer]
        ) -> Bool {
            guard layers[layer].error?.pairing == .structure else { return false }
            let users = layers.indices.filter { user in
                layers[user].error != nil
                    && nearestCompared(before: user, in: layers).contains(layer)
            }
            return !users.isEmpty && users.allSatisfy { layers[$0].error?.holds == true }
        }
    }
}

func nearestCompared(before layer: Int, in layers: [VerificationReport.Layer]) -> [Int] {
    var open = layers[layer].value.inputs
    var (seen, found): (Set<Int>, Set<Int>) = ([], [])
    while let index = open.popLast() {
        guard seen.insert(index).inserted else { continue }
        if layers[index].error == nil {
            open += layers[index].value.inputs
        } else {
            found.insert(index)
        }
    }
    return found.sorted()
}

extension [VerificationReport.Layer] {
    /// The values, without the errors of those that only normalizations use, which make up for
    /// them. Weights with a normalization folded into them differ from the original ones by a
    /// factor and an offset for each channel, which the statistics of the normalization undo.
    func withoutNormalizedErrors() -> [VerificationReport.Layer] {
        var users = [[Int]](repeating: [], count: count)
        for (index, layer) in enumerated() {
            for input in layer.value.inputs { users[input].append(index) }
        }
        var isNormalized = [Bool](repeating: false, count: count)
        // Backward: a bias may be added in between.
        for index in indices.reversed() {
            guard let error = self[index].error, !error.holds, !users[index].isEmpty
            else { continue }
            isNormalized[index] = users[index].allSatisfy { user in
                isNormalized[user] || self[user].normalizes(error)
            }
        }
        return indices.map { index in
            guard isNormalized[index] else { return self[index] }
            let layer = self[index]
            return VerificationReport.Layer(value: layer.value, range: layer.range, error: nil)
        }
    }
}

extension VerificationReport.Layer {
    /// By how many dB a normalization that makes up for an error has to be nearer to the expected
    /// values than what it normalizes: otherwise the error only is little.
    private static let normalizedGain = 20.0

    /// Whether this is a normalization that is right although its input has an error.
    fileprivate func normalizes(_ inputError: VerificationReport.LayerError) -> Bool {
        guard value.operation == "batch_norm", let error, error.holds else { return false }
        return error.snr >= inputError.snr + Self.normalizedGain
    }
}
