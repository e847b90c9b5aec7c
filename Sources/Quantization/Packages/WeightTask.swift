import MLPackage

/// What is to be done with a weight.
struct WeightTask {
    let scheme: QuantizationScheme
    /// The axis of the output channels.
    let axis: Int
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
        let granularity = scheme.weights.hasBlocks ? scheme.chosenGranularity : .perTensor
        guard
            let blocks = WeightBlocks(
                shape, granularity, axes: axes, size: scheme.blockSize)
        else { return .failure(Reason(text: "\(scheme.blockSize) does not divide its channels")) }
        return .success(
            WeightTask(
                scheme: scheme, axis: axes.output, blocks: blocks,
                precision: weight.value.type.dataType))
    }

    /// - Parameter inputs: what the weight is multiplied by; nil to round each number by itself.
    func compressed(_ values: [Float], _ inputs: WeightInputs?) -> CompressedWeight {
        WeightCompression(
            values: values, blocks: blocks, axis: axis, precision: precision, inputs: inputs
        ).compressed(scheme)
    }
}
