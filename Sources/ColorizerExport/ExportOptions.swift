import Colorizers
import MIL
import MLPackage
import TensorGraph

/// How a checkpoint is written as a Core ML package.
public struct ExportOptions: Hashable, Sendable {
    /// The arithmetic and the weights of the whole program, but for ``float32``.
    public enum Precision: String, CaseIterable, Sendable {
        case float32, float16
    }

    /// The oldest system that the package runs on.
    public enum Target: String, CaseIterable, Sendable {
        case iOS15, iOS16, iOS17, iOS18
    }

    /// What the model takes as `input`.
    public enum Input: String, CaseIterable, Sendable {
        /// A multi-array [1, 1, H, W] of L in 0…100.
        case tensor
        /// A grayscale picture, whose 0…255 stand for L in 0…100.
        case image
    }

    /// What the model gives.
    public enum Output: String, CaseIterable, Sendable {
        /// `ab`, [1, 2, H, W] in −110…110.
        case ab
        /// `output_a` and `output_b`, [1, 1, H, W] each.
        case split
    }

    /// Who brings lightness and color to the numbers that the network computes with.
    public enum Normalization: String, CaseIterable, Sendable {
        /// The model takes L in 0…100 and gives a and b in −110…110.
        case inside
        /// The model takes (L − 50)/100 and gives a/110 and b/110.
        case outside
    }

    /// What becomes of a picture's pixels: scale·pixel + bias, as in coremltools' `ImageType`.
    public struct ImageScaling: Hashable, Sendable {
        public var scale: Float
        public var bias: Float

        public init(scale: Float = 1, bias: Float = 0) {
            self.scale = scale
            self.bias = bias
        }
    }

    public var precision: Precision
    public var target: Target
    public var input: Input
    public var output: Output
    /// In pixels; multiples of what the architecture needs.
    public var height: Int
    public var width: Int
    /// The other sizes that the model takes.
    public var flexibility = Flexibility.fixed
    public var normalization = Normalization.inside
    /// How pixels become what the model takes; 0…255 stand for L in 0…100 if nil.
    public var imageScaling: ImageScaling?
    /// What stays in float32 in a float16 program.
    public var float32 = Float32Operations()
    /// Whether a batch normalization right behind a convolution becomes a part of its weights, in
    /// double precision. What the package then computes is the same; its weights are others.
    public var foldsBatchNorm = true
    /// Whether weights that the precision does not hold become ±65504 instead of being refused.
    /// NaN is refused all the same.
    public var clampsWeights = false
    /// Shown to whoever opens the package; left out where empty.
    public var author = ""
    public var license = ""
    public var version = ""

    /// - Parameter size: height and width in pixels.
    public init(
        precision: Precision = .float32, target: Target = .iOS15, input: Input = .tensor,
        output: Output = .ab, size: Int = 256
    ) {
        self.precision = precision
        self.target = target
        self.input = input
        self.output = output
        height = size
        width = size
    }
}

extension ExportOptions {
    var lowering: LoweringOptions {
        var options = LoweringOptions(precision.dataType, target.deploymentTarget)
        options.float32 = float32
        options.foldsBatchNorm = foldsBatchNorm
        options.clamps = clampsWeights
        options.isFlexible = flexibilityLeft != .fixed
        return options
    }

    /// What is done to pixels; nil for a tensor.
    var pixelScaling: ImageScaling? {
        guard input == .image else { return nil }
        if let imageScaling { return imageScaling }
        return normalization == .inside
            ? ImageScaling(scale: LabScaling.lightnessRange / 255)
            : ImageScaling(
                scale: 1 / 255, bias: -LabScaling.lightnessCenter / LabScaling.lightnessRange)
    }

    /// What the model takes for a lightness in 0…100; pixels are not rounded.
    package func input(lightness: TensorData) -> TensorData {
        let pixels = pixelScaling ?? ImageScaling()
        let scalars = lightness.scalars.map { value in
            let taken = normalization == .inside ? value : LabScaling.normalize(lightness: value)
            return (taken - pixels.bias) / pixels.scale
        }
        return TensorData(shape: lightness.shape, scalars: scalars)
    }

    /// Refuses options that do not go together, or not with a colorizer.
    package func check(for colorizer: any ColorizerNetwork) throws {
        try checkSizes(colorizer)
        try checkScaling()
    }

    private func checkScaling() throws {
        guard let imageScaling else { return }
        guard input == .image else {
            throw Self.refusal(
                "image scaling", "the model takes a tensor", "Let it take an image, or leave it.")
        }
        let (scale, bias) = (imageScaling.scale, imageScaling.bias)
        guard scale.isFinite, scale != 0, bias.isFinite else {
            throw Self.refusal(
                "image scaling", "\(scale)·pixel + \(bias) tells no pixels apart",
                "Choose finite numbers, and a scale other than 0.")
        }
    }
}

extension ExportOptions.Precision {
    var dataType: MILDataType { self == .float16 ? .float16 : .float32 }
}

extension ExportOptions.Target {
    var deploymentTarget: DeploymentTarget {
        switch self {
        case .iOS15: .iOS15
        case .iOS16: .iOS16
        case .iOS17: .iOS17
        case .iOS18: .iOS18
        }
    }
}

/// What an export wrote.
public struct ExportSummary: Hashable, Sendable {
    /// Operations of the program, constants not counted.
    public let operationCount: Int
    /// The numbers in the program's float constants.
    public let weightCount: Int
    /// SHA-256 of the checkpoint's weights, as the package's metadata has it.
    public let checkpointHash: String
    /// Operations of a float16 program that compute in float32, by their names in the package.
    public let keptInFloat32: [String]
    /// How many batch normalizations went into weights.
    public let foldedCount: Int
    /// Tensors with numbers that were beyond what their precision holds.
    public let clamped: [ClampedTensor]
    /// What height and width have to be multiples of, where the model takes a range of them: Core
    /// ML has no word for it.
    public let sizeMultiple: Int?
}
