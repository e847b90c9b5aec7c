/// What a torch module computes, by the name of its class.
///
/// Names and values do not always tell which of a package's results a module's output is. Exports
/// fold a normalization into the convolution before it, whose own output they do not have; and a
/// function between two modules is none of them.
enum ModuleKind: Hashable {
    /// A convolution or a linear layer.
    case weighted
    /// A normalization; one with fixed statistics is folded.
    case normalization(isFixed: Bool)
    /// An activation function, pooling or resizing.
    case unweighted

    private static let unweightedClasses: Set<String> = [
        "AdaptiveAvgPool2d", "AdaptiveMaxPool2d", "AvgPool2d", "ELU", "GELU", "Hardsigmoid",
        "Hardswish", "Hardtanh", "LeakyReLU", "LogSoftmax", "MaxPool2d", "Mish", "PReLU",
        "PixelShuffle", "PixelUnshuffle", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softmax",
        "Softplus", "Tanh", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d",
    ]

    /// Nil for other modules.
    init?(className name: String) {
        if name.hasPrefix("Conv") || name == "Linear" {
            self = .weighted
        } else if name.hasPrefix("BatchNorm") || name == "SyncBatchNorm" {
            self = .normalization(isFixed: true)
        } else if ["GroupNorm", "LayerNorm", "RMSNorm"].contains(name)
            || name.hasPrefix("InstanceNorm")
        {
            self = .normalization(isFixed: false)
        } else if Self.unweightedClasses.contains(name) {
            self = .unweighted
        } else {
            return nil
        }
    }

    private static let weightedOperations: Set<String> = ["conv2d", "conv_transpose2d", "matmul"]
    /// Operations that neither a weight nor a normalization ends with.
    private static let unweightedOperations: Set<String> = [
        "avg_pool2d", "clip", "concat", "hardswish", "leaky_relu", "log_softmax", "max_pool2d",
        "pixel_shuffle", "pixel_unshuffle", "relu", "relu6", "sigmoid", "softmax", "tanh",
        "upsample_bilinear2d", "upsample_nearest2d",
    ]

    /// Whether an operation has a weight.
    static func isWeighted(_ operation: String) -> Bool { weightedOperations.contains(operation) }

    /// Whether a module of this kind may end with an operation.
    func mayEnd(with operation: String) -> Bool {
        switch self {
        case .weighted: operation != "batch_norm" && !Self.unweightedOperations.contains(operation)
        case .normalization: !Self.unweightedOperations.contains(operation)
        case .unweighted: !Self.weightedOperations.contains(operation)
        }
    }
}
