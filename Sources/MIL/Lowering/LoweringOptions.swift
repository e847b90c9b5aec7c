import MLPackage

/// How a graph is written as a program.
package struct LoweringOptions {
    /// float32 or float16, for all that ``float32`` does not keep.
    package var precision: MILDataType
    package var target: DeploymentTarget
    /// What stays in float32 in a float16 program.
    package var float32 = Float32Operations()
    /// Whether a batch normalization right behind a convolution becomes a part of its weights.
    package var foldsBatchNorm = true
    /// Whether weights that the precision does not hold become ±65504 instead of being refused.
    package var clamps = false
    /// Whether the program is to run at other sizes than the graph's: no size is written then that
    /// Core ML finds by itself.
    package var isFlexible = false

    package init(_ precision: MILDataType, _ target: DeploymentTarget) {
        self.precision = precision
        self.target = target
    }
}

/// A program and what was done on the way to it.
package struct LoweredProgram {
    package var program: MILProgram
    /// Operations that stayed in float32 in a float16 program.
    package var keptInFloat32: [String] = []
    /// The modules of batch normalizations that went into a convolution's weights.
    package var foldedModules: [String] = []
    package var clamped: [ClampedTensor] = []
    /// Which node computes which value.
    package var record = NodeRecord([:])
}

/// A tensor with numbers that were beyond what its precision holds.
public struct ClampedTensor: Hashable, Sendable {
    /// Its name in the state dict.
    public let name: String
    /// How many of its numbers are now ±65504.
    public let count: Int
}
