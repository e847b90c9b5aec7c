import MLPackage

/// What is to be done with a weight.
struct WeightTask {
    let scheme: QuantizationScheme
    private let axes: (output: Int, input: Int)
    /// The axis of the output channels.
    var axis: Int { axes.output }
    private let blocks: WeightBlocks
    private let precision: MILDataType

    /// Why a weight is left alone.
    struct Reason: Error {
        let text: String
    }

    static func make(
        _ weight: PackageWeight, _ scheme: QuantizationScheme
    ) -> Result<WeightTask, Reason> {
        let shape = weight.shape
        guard shape.reduce(1, *) > scheme.threshold else {
            return .failure(Reason(text: "it has no more than \(scheme.threshold) numbers"))
        }
        guard let axes = weight.axes else {
            let text = "the operations that take it do not agree on its channels"
            return .failure(Reason(text: text))
        }
        guard !weight.uses.isEmpty else {
            return .failure(Reason(text: "no operation takes it"))
        }
        if scheme.weights == .float16, weight.value.type.dataType == .float16 {
            return .failure(Reason(text: "it is float16 already"))
        }
        if let reason = scheme.pruning.reason(against: shape, axes, scheme.pruningAxis) {
            return .failure(Reason(text: reason))
        }
        let granularity = scheme.weights.hasBlocks ? scheme.chosenGranularity : .perTensor
        guard
            let blocks = WeightBlocks(
                shape, granularity, axes: axes, size: scheme.blockSize)
        else { return .failure(Reason(text: "\(scheme.blockSize) does not divide its channels")) }
        return .success(
            WeightTask(
                scheme: scheme, axes: axes, blocks: blocks,
                precision: weight.value.type.dataType))
    }

    /// - Parameter inputs: what the weight is multiplied by; nil to round each number by itself.
    func compressed(_ values: [Float], _ inputs: WeightInputs?) -> CompressedWeight {
        WeightCompression(
            values: values, blocks: blocks, axes: axes, precision: precision, inputs: inputs
        ).compressed(scheme)
    }
}

extension QuantizationScheme.Pruning {
    /// Why a weight has too few channels for it, if so; the limit is coremltools'.
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
        return "\(size) neighbors are more than half of its \(channels) \(axis) channels"
    }
}
