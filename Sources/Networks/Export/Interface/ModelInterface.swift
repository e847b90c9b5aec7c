/// What goes into a model, and what comes out of it.
///
/// It says what a file or a network states, for a model of any kind. A colorizer is a model whose
/// values have roles: lightness goes in, colors come out. Only coloring asks for them.
public struct ModelInterface: Hashable, Codable, Sendable {
    /// The inputs, in the model's order.
    public var inputs: [Value]
    /// The outputs, in the model's order.
    public var outputs: [Value]

    /// Creates an interface.
    public init(inputs: [Value], outputs: [Value]) {
        (self.inputs, self.outputs) = (inputs, outputs)
    }

    /// An input or an output.
    public struct Value: Hashable, Codable, Sendable {
        /// Its name, which no other input or output has.
        public var name: String
        /// What it stands for.
        public var role: Role
        /// The shapes that it may have.
        public var shapes: Shapes
        /// The type of its elements in the file; nil if that does not state it.
        public var elementType: ElementType?
        /// The channels of an image; nil for a tensor.
        public var colorLayout: ColorLayout?
        /// What its elements mean in the units of its role.
        public var scaling: Scaling

        /// Creates a value; by default a tensor without a role.
        public init(
            name: String, role: Role = .none, shapes: Shapes, elementType: ElementType? = nil,
            colorLayout: ColorLayout? = nil, scaling: Scaling = .identity
        ) {
            (self.name, self.role, self.shapes) = (name, role, shapes)
            (self.elementType, self.colorLayout) = (elementType, colorLayout)
            self.scaling = scaling
        }
    }

    /// What a value stands for.
    public enum Role: String, Hashable, Codable, CaseIterable, Sendable {
        /// Nothing that retint knows.
        case none
        /// The lightness L of CIE Lab in 0…100, [N, 1, H, W].
        case lightness
        /// A photo without its colors in sRGB, three equal channels in 0…1, [N, 3, H, W].
        case grayRGB = "gray_rgb"
        /// The colors of some pixels, a and b in −110…110 and which pixels those are, [N, 3, H, W].
        case hints
        /// The colors a and b of CIE Lab in −110…110, [N, 2, H, W].
        case ab
        /// The color a alone, [N, 1, H, W].
        case a
        /// The color b alone, [N, 1, H, W].
        case b
        /// A photo in sRGB, 0…1, [N, 3, H, W].
        case rgb
    }

    /// The type of a value's elements.
    public enum ElementType: String, Hashable, Codable, CaseIterable, Sendable {
        /// Floating point of 16 bits, of which bfloat16 has the range of float32.
        case float16, bfloat16
        /// Floating point of 32 and of 64 bits.
        case float32, float64
        /// Signed integers.
        case int4, int8, int16, int32, int64
        /// Unsigned integers.
        case uint4, uint8, uint16, uint32, uint64
        /// True or false.
        case bool
    }

    /// The channels of an image, whose pixels are levels in 0…255.
    public enum ColorLayout: String, Hashable, Codable, CaseIterable, Sendable {
        /// One channel.
        case grayscale
        /// Red, green and blue.
        case rgb
        /// Blue, green and red.
        case bgr

        /// The number of channels.
        public var channels: Int { self == .grayscale ? 1 : 3 }
    }

    /// From the elements of a value to the units of its role: scale · element + bias.
    public struct Scaling: Hashable, Codable, Sendable {
        /// A factor for each channel, or one for all.
        public var scale: [Float]
        /// What is added after scaling, for each channel or for all.
        public var bias: [Float]

        /// Elements are in the units of the role, or the role has none.
        public static let identity = Scaling(scale: 1)

        /// Creates a scaling for each channel.
        public init(scale: [Float], bias: [Float]) {
            (self.scale, self.bias) = (scale, bias)
        }

        /// Creates a scaling for all channels.
        public init(scale: Float, bias: Float = 0) {
            self.init(scale: [scale], bias: [bias])
        }
    }
}
