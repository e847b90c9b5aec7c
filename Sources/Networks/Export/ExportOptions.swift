import RetintArchitectures
import RetintGraph
import RetintMIL
import RetintMLPackage
import RetintTensors

/// Options for converting a checkpoint to a Core ML package.
public struct ExportOptions: Hashable, Sendable {
    /// The precision of weights and arithmetic, except for operations that ``float32`` selects.
    public enum Precision: String, CaseIterable, Sendable {
        /// Floating point with 32 or 16 bits.
        case float32, float16
    }

    /// The minimum deployment target of the package.
    public enum Target: String, CaseIterable, Sendable {
        /// iOS 15 to 18, with macOS 12 to 15; iOS 26 and macOS 26.
        case iOS15, iOS16, iOS17, iOS18, iOS26
    }

    /// The type of the model's `input`.
    public enum Input: String, CaseIterable, Sendable {
        /// A float32 multi-array, [1, 1, H, W], of L in 0…100.
        case tensor
        /// A grayscale image whose pixel values 0…255 represent L in 0…100.
        case image
    }

    /// The model's outputs.
    public enum Output: String, CaseIterable, Sendable {
        /// One multi-array `ab`, [1, 2, H, W], in −110…110.
        case ab
        /// Two multi-arrays `output_a` and `output_b`, [1, 1, H, W] each, in −110…110.
        case split
    }

    /// Whether lightness and color are normalized inside the model or by the app that calls it.
    public typealias Normalization = LabScaling.Normalization

    /// The element type of input and output multi-arrays.
    public enum ElementType: String, CaseIterable, Sendable {
        /// For all targets.
        case float32
        /// iOS 16 and later: half the bytes, and no conversion around a float16 model.
        case float16
        /// iOS 26 and later: L, a and b rounded to integers.
        case int8
    }

    /// The scaling of an image's pixels: scale·pixel + bias, as in coremltools' `ImageType`.
    public struct ImageScaling: Hashable, Sendable {
        /// The factor for pixel values; finite and not 0.
        public var scale: Float
        /// Added after scaling; finite.
        public var bias: Float

        /// Creates a scaling; by default pixels stay unchanged.
        public init(scale: Float = 1, bias: Float = 0) {
            self.scale = scale
            self.bias = bias
        }
    }

    /// The precision of weights and arithmetic.
    public var precision: Precision
    /// The minimum deployment target.
    public var target: Target
    /// The type of the model's input.
    public var input: Input
    /// The model's outputs.
    public var output: Output
    /// The element type of input and output multi-arrays.
    public var elementType = ElementType.float32
    /// The default height in pixels, a multiple of the architecture's required multiple.
    public var height: Int
    /// The default width in pixels, a multiple of the architecture's required multiple.
    public var width: Int
    /// The other sizes that the model accepts.
    public var flexibility = Flexibility.fixed
    /// Whether lightness and color are normalized inside the model.
    public var normalization = Normalization.inside
    /// The scaling of pixels for an image input. If nil, pixel values 0…255 represent L in 0…100.
    public var imageScaling: ImageScaling?
    /// The operations that stay in float32 in a float16 program.
    public var float32 = Float32Operations()
    /// Whether a batch normalization directly after a convolution is folded into its weights, in
    /// double precision. The package computes the same values, but from different weights than the
    /// checkpoint's.
    public var foldsBatchNorm = true
    /// Whether weights outside the range of float16 are clamped to ±65504 instead of being refused.
    /// NaN is always refused.
    public var clampsWeights = false
    /// The author in the package's metadata; omitted if empty.
    public var author = ""
    /// The license in the package's metadata; omitted if empty.
    public var license = ""
    /// The model version in the package's metadata; omitted if empty.
    public var version = ""

    /// Creates options for a square default size.
    ///
    /// - Parameter size: the height and width in pixels.
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
    package var lowering: LoweringOptions {
        var options = LoweringOptions(precision.dataType, target.deploymentTarget)
        options.float32 = float32
        options.foldsBatchNorm = foldsBatchNorm
        options.clamps = clampsWeights
        options.isFlexible = flexibilityLeft != .fixed
        options.inputType = inputType
        options.outputType = elementType.dataType
        return options
    }

    /// The scaling from pixels to the model's lightness; nil for a tensor input.
    var pixelScaling: ImageScaling? {
        guard input == .image else { return nil }
        if let imageScaling { return imageScaling }
        return normalization == .inside
            ? ImageScaling(scale: LabScaling.lightnessPerPixel)
            : ImageScaling(
                scale: 1 / 255, bias: -LabScaling.lightnessCenter / LabScaling.lightnessRange)
    }

    /// The model's input for lightness in 0…100, of the same shape. Pixel values are not rounded.
    package func input(lightness: TensorData) -> TensorData {
        let pixels = pixelScaling ?? ImageScaling()
        let scalars = lightness.scalars.map { value in
            let scaled = normalization == .inside ? value : LabScaling.normalize(lightness: value)
            return (scaled - pixels.bias) / pixels.scale
        }
        return TensorData(shape: lightness.shape, scalars: scalars)
    }

    /// Checks that the options are consistent and supported by a colorizer.
    ///
    /// - Throws: ``ConversionError`` if they are not.
    public func check(for colorizer: any ColorizerNetwork) throws {
        try checkSizes { try check($0, colorizer) }
        try checkScaling()
        try checkElementType()
    }

    /// Checks that the options are consistent, and none of them is for colorizers alone.
    ///
    /// - Throws: ``ConversionError`` if they are not.
    package func checkForOwnInterface() throws {
        try checkSizes { size in
            let isPossible = [size.width, size.height]
                .allSatisfy((1...Self.largestSide).contains)
            guard !isPossible else { return }
            throw Self.refusal(
                "size \(size)", "sides are from 1 to \(Self.largestSide)", "Choose another size.")
        }
        try checkScaling()
        try checkElementType()
        let refused = [
            ("output", "one output for a and b, or two", output != .ab),
            ("normalization", "lightness and colors", normalization != .inside),
            ("element type", "lightness and colors that are rounded to int8", elementType == .int8),
            ("image scaling", "pixels that become lightness", imageScaling != nil),
        ]
        guard let (place, rule, _) = refused.first(where: \.2) else { return }
        throw Self.refusal(
            place, "it means \(rule), and the model keeps its own inputs and outputs",
            "Leave it out (for images, state a range), or take retint's interface for a colorizer.")
    }

    private func checkElementType() throws {
        let oldest = DeploymentTarget.oldest(withInterfaceOf: elementType.dataType) ?? .iOS15
        guard target.deploymentTarget >= oldest else {
            throw Self.refusal(
                "element type", "\(elementType.rawValue) needs the target \(oldest.rawValue)",
                "Choose that target, or float32.")
        }
        guard elementType != .int8 || normalization == .inside else {
            throw Self.refusal(
                "element type", "int8 cannot store values that are normalized outside the model",
                "Normalize inside the model, or choose float16.")
        }
    }

    private func checkScaling() throws {
        guard let imageScaling else { return }
        guard input == .image else {
            throw Self.refusal(
                "image scaling", "the model takes a tensor",
                "Choose an image input or remove the scaling.")
        }
        let (scale, bias) = (imageScaling.scale, imageScaling.bias)
        guard scale.isFinite, scale != 0, bias.isFinite else {
            throw Self.refusal(
                "image scaling", "\(scale)·pixel + \(bias) does not distinguish pixel values",
                "Choose finite values and a scale other than 0.")
        }
    }
}

extension ExportOptions.ElementType {
    package var dataType: MILDataType {
        switch self {
        case .float32: .float32
        case .float16: .float16
        case .int8: .int8
        }
    }
}

extension ExportOptions.Precision {
    var dataType: MILDataType { self == .float16 ? .float16 : .float32 }
}

extension ExportOptions.Target {
    package var deploymentTarget: DeploymentTarget {
        switch self {
        case .iOS15: .iOS15
        case .iOS16: .iOS16
        case .iOS17: .iOS17
        case .iOS18: .iOS18
        case .iOS26: .iOS26
        }
    }
}

/// A summary of an exported package.
public struct ExportSummary: Hashable, Sendable {
    /// The number of operations in the program, not counting constants.
    public let operationCount: Int
    /// The number of elements in the program's float constants.
    public let weightCount: Int
    /// The SHA-256 of the checkpoint's weights, as recorded in the package's metadata.
    public let checkpointHash: String
    /// The names in the package of operations that stay in float32 in a float16 program.
    public let keptInFloat32: [String]
    /// The number of batch normalizations that were folded into convolutions.
    public let foldedCount: Int
    /// The tensors with values that were clamped to the range of float16.
    public let clamped: [ClampedTensor]
    /// The compressed weights of a package that became floats, since the operations that took the
    /// place of others use them in another form.
    public let decompressed: [String]
    /// The number that height and width must be multiples of, for a model that accepts a range of
    /// sizes, because Core ML cannot state it; nil otherwise.
    public let sizeMultiple: Int?
}
