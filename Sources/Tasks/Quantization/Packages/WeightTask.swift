import RetintFiles
import RetintMIL
import RetintMLPackage

/// How to compress a weight.
struct WeightTask {
    let scheme: QuantizationScheme
    private let axes: (output: Int, input: Int)
    /// The axis of the output channels.
    var axis: Int { axes.output }
    let blocks: WeightBlocks
    private let precision: MILDataType

    /// Why a weight is not compressed.
    enum Reason: Error, Hashable {
        /// It has no more elements than the threshold.
        case tooSmall(threshold: Int)
        case other(String)

        var text: String {
            switch self {
            case .tooSmall(let threshold): "it has no more than \(threshold) elements"
            case .other(let text): text
            }
        }

        /// Nothing can be compressed.
        ///
        /// - Parameter largest: the largest weight and the reason for it; nil without weights.
        static func nothing(_ largest: (name: String, reason: Reason)?) -> ConversionError {
            var error = ConversionError(
                place: "weights", rule: "no weight can be compressed with this plan",
                remedy: largest.map { "The largest, \($0.name): \($0.reason.text)." }
                    ?? "The package has no weights.")
            if case .tooSmall? = largest?.reason { error.remedies = [Remedy(.threshold, "0")] }
            return error
        }
    }

    /// The task of compressing a weight by a scheme, or why that is not possible.
    static func make(
        _ weight: PackageWeight, _ scheme: QuantizationScheme
    ) -> Result<WeightTask, Reason> {
        let shape = weight.shape
        let threshold = scheme.threshold ?? (weight.inputScale == nil ? 2048 : 0)
        guard shape.reduce(1, *) > threshold else {
            return .failure(.tooSmall(threshold: threshold))
        }
        guard let axes = weight.axes else {
            let text = "the operations that use it disagree on its channel axes"
            return .failure(.other(text))
        }
        guard !weight.uses.isEmpty else {
            return .failure(.other("no operation uses it"))
        }
        if scheme.weights == .float16, weight.value.type.dataType == .float16 {
            return .failure(.other("it is already float16"))
        }
        if let reason = scheme.pruning.reason(against: shape, axes, scheme.pruningAxis) {
            return .failure(.other(reason))
        }
        let granularity = scheme.weights.hasBlocks ? scheme.chosenGranularity : .perTensor
        guard
            let blocks = WeightBlocks(
                shape, granularity, axes: axes, size: scheme.blockSize)
        else {
            let text = "its channel count is not a multiple of \(scheme.blockSize)"
            return .failure(.other(text))
        }
        return .success(
            WeightTask(
                scheme: scheme, axes: axes, blocks: blocks,
                precision: weight.value.type.dataType))
    }

    /// - Parameters:
    ///   - inputs: the observed inputs of the weight; nil to round elements independently.
    ///   - leastScales: lower bounds of the blocks' scales; nil for none.
    func compressed(
        _ values: [Float], _ inputs: WeightInputs?, leastScales: [Float]? = nil
    ) -> CompressedWeight {
        WeightCompression(
            values: values, blocks: blocks, axes: axes, precision: precision, inputs: inputs,
            leastScales: leastScales
        ).compressed(scheme)
    }
}

extension QuantizationScheme.Pruning {
    /// Why a weight has too few channels for this structure, with the limit of coremltools; nil if
    /// it has enough.
    fileprivate func reason(
        against shape: [Int], _ axes: (output: Int, input: Int),
        _ axis: QuantizationScheme.ChannelAxis
    ) -> String? {
        let size: Int
        switch self {
        case .single: return nil
        case .blocks(let count), .ratio(_, let count): size = count
        }
        let channels = shape[axis == .output ? axes.output : axes.input]
        guard 2 * size > channels else { return nil }
        return "groups of \(size) are more than half of its \(channels) \(axis) channels"
    }
}
