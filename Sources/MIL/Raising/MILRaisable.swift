import MLPackage
import TensorGraph

/// How operations of MIL become operations of the graph.
package protocol MILRaisable: SendableMetatype {
    /// The types of MIL that this rule knows.
    static var milTypes: [String] { get }

    /// The operation's outputs, in order.
    static func raise(_ operation: RaisedOperation) throws -> [Tensor]
}

/// All rules, by MIL type.
enum MILRules {
    private static let all: [any MILRaisable.Type] = [
        Convolution.self, ConvolutionTranspose.self, BatchNormInference.self, MatMul.self,
        LinearRule.self, ActivationRule.self, ParametricActivationRule.self, BinaryRule.self,
        PointwiseRule.self, Softmax.self, ReductionRule.self, Reshape.self, AxesRule.self,
        Transpose.self, Broadcast.self, Pad.self, Slice.self, CropRule.self, SplitRule.self,
        Concat.self, StackRule.self, UpsampleBilinear.self, UpsampleNearest.self, ResizeRule.self,
        PixelShuffle.self, PixelUnshuffle.self, MaxPool.self, AveragePool.self,
        NormalizationRule.self, IdentityRule.self, ComparisonRule.self, ChoiceRule.self,
        PlacesRule.self, ActivationQuantizationRule.self,
    ]

    private static let byType = Dictionary(
        all.flatMap { rule in rule.milTypes.map { ($0, rule) } }, uniquingKeysWith: { $1 })

    static func rule(for type: String) -> (any MILRaisable.Type)? { byType[type] }
}
