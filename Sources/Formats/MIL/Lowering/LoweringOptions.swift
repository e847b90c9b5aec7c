import RetintMLPackage

/// Options for lowering a graph to a MIL program.
package struct LoweringOptions {
    /// float32 or float16, for all operations that ``float32`` does not select.
    package var precision: MILDataType
    /// The oldest OS version that must run the program.
    package var target: DeploymentTarget
    /// The element type of the program's inputs.
    package var inputType = MILDataType.float32
    /// The element type of the program's outputs. For integers, the graph must round the values.
    package var outputType = MILDataType.float32
    /// The types of inputs and outputs that have another one, by name. Those of integers are whole
    /// numbers in the graph.
    package var interfaceTypes: [String: MILDataType] = [:]
    /// The operations that stay in float32 in a float16 program.
    package var float32 = Float32Operations()
    /// Whether a batch normalization directly after a convolution is folded into its weights.
    package var foldsBatchNorm = true
    /// Whether weights outside the range of float16 are clamped to ±65504 instead of being refused.
    package var clamps = false
    /// The largest number of axes of a value; nil for any.
    package var maximumRank: Int?
    /// Whether infinite weights and constants, such as masks of attention, are written as they are.
    package var keepsInfinity = false
    /// Whether the program must also run at other sizes than the graph's. Sizes that Core ML can
    /// infer are then omitted.
    package var isFlexible = false

    package init(_ precision: MILDataType, _ target: DeploymentTarget) {
        self.precision = precision
        self.target = target
    }
}

/// A lowered program, with a record of what lowering did.
package struct LoweredProgram {
    package var program: MILProgram
    /// Operations that stayed in float32 in a float16 program.
    package var keptInFloat32: [String] = []
    /// The modules of batch normalizations that were folded into a convolution's weights.
    package var foldedModules: [String] = []
    /// Tensors with values that were clamped.
    package var clamped: [ClampedTensor] = []
    /// Compressed constants of the program that this one was made of which became floats.
    package var decompressed: [String] = []
    /// The node that computes each value.
    package var record = NodeRecord([:])
}

/// A tensor with values that were clamped to the range of float16.
public struct ClampedTensor: Hashable, Sendable {
    /// The tensor's name in the state dict.
    public let name: String
    /// The number of values that were clamped to ±65504.
    public let count: Int
}
