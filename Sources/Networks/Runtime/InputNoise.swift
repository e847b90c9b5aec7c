public import RetintExport
import RetintMIL
import RetintTensors

/// How the random values of a model's input are distributed.
public enum InputNoise: Hashable, Sendable {
    /// All values between two bounds are equally likely.
    case uniform(lower: Float, upper: Float)
    /// The normal distribution.
    case normal(mean: Float, deviation: Float)
    /// All integers from the first to the last are equally likely.
    case integers(first: Int, last: Int)
    /// Images with the spectrum of photos, whose variance is the same in each octave of
    /// frequencies, between two bounds. Colorizers give them colors; those of uniform noise are
    /// nearly gray, whatever the network.
    case natural(lower: Float, upper: Float)

    /// The largest magnitude of an integer, which float32 holds exactly.
    public static let largestInteger = 1 << 24

    /// Random values.
    ///
    /// - Parameters:
    ///   - shape: the shape of the input.
    ///   - seed: the seed of the random numbers.
    ///   - name: the name of the input: inputs of other names get other values.
    public func values(_ shape: Shape, seed: UInt64, name: String) -> TensorData {
        var random = RandomStream(seed: seed, name: name)
        if shape.rank > 1, case .natural(let lower, let upper) = self {
            return NaturalNoise(lower: lower, upper: upper).values(shape, &random)
        }
        let scalars = (0..<shape.count).map { _ in next(&random) }
        return TensorData(shape: shape, scalars: scalars)
    }

    private func next(_ random: inout RandomStream) -> Float {
        switch self {
        case .uniform(let lower, let upper), .natural(let lower, let upper):
            let (lower, upper) = (Double(lower), Double(upper))
            return Float(lower + (upper - lower) * random.uniform())
        case .normal(let mean, let deviation):
            return Float(Double(mean) + Double(deviation) * random.normal())
        case .integers(let first, let last):
            return Float(first + Int(random.uniform() * Double(last - first + 1)))
        }
    }
}

extension InputNoise: CustomStringConvertible {
    /// Reads `uniform:0..1`, `natural:0..1`, `normal:0,1` or `integers:0..9`; nil for other texts,
    /// for numbers that are not finite, a lower bound above the upper one, a negative deviation,
    /// and integers beyond ``largestInteger``.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "uniform", "natural":
            guard let (lower, upper) = Self.pair(parts[1], "..", { Float($0) }), lower <= upper
            else { return nil }
            self =
                parts[0] == "natural"
                ? .natural(lower: lower, upper: upper) : .uniform(lower: lower, upper: upper)
        case "normal":
            guard let (mean, deviation) = Self.pair(parts[1], ",", { Float($0) }), deviation >= 0
            else { return nil }
            self = .normal(mean: mean, deviation: deviation)
        case "integers":
            guard let (first, last) = Self.pair(parts[1], "..", { Int($0) }), first <= last,
                max(first.magnitude, last.magnitude) <= Self.largestInteger
            else { return nil }
            self = .integers(first: first, last: last)
        default: return nil
        }
    }

    private static func pair<Number: SignedNumeric>(
        _ text: String, _ separator: String, _ number: (String) -> Number?
    ) -> (Number, Number)? {
        guard let range = text.firstRange(of: separator), text[range.upperBound...].first != "."
        else { return nil }
        guard let first = number(String(text[..<range.lowerBound])),
            let second = number(String(text[range.upperBound...]))
        else { return nil }
        let areFinite = [first, second].allSatisfy { ($0 as? Float)?.isFinite ?? true }
        return areFinite ? (first, second) : nil
    }

    /// As ``init(_:)`` reads it.
    public var description: String {
        switch self {
        case .uniform(let lower, let upper): "uniform:\(lower)..\(upper)"
        case .natural(let lower, let upper): "natural:\(lower)..\(upper)"
        case .normal(let mean, let deviation): "normal:\(mean),\(deviation)"
        case .integers(let first, let last): "integers:\(first)..\(last)"
        }
    }
}

extension ModelInterface.Value {
    /// The distribution unless another one is requested: images like photos for lightness, and in
    /// the range of its role; all levels of an image, the standard normal distribution for other
    /// floats, 0 and 1 for integers.
    public var usualNoise: InputNoise {
        if role == .lightness { return .natural(lower: 0, upper: 100) }
        if colorLayout != nil { return .integers(first: 0, last: 255) }
        if role == .rgb || role == .grayRGB { return .natural(lower: 0, upper: 1) }
        return elementType?.isFloat ?? true
            ? .normal(mean: 0, deviation: 1) : .integers(first: 0, last: 1)
    }

    /// Whether photos can be passed: it is an image, or a tensor of floats, [N, C, H, W], with one
    /// or three channels.
    public var takesPhotos: Bool {
        let shape = shapes.standard
        guard shape.count == 4, [1, 3].contains(shape[1] ?? 0) else { return false }
        return colorLayout != nil || elementType?.isFloat ?? true
    }
}

extension ModelInterface.ElementType {
    fileprivate var isFloat: Bool {
        [.float16, .bfloat16, .float32, .float64].contains(self)
    }

    /// Whether elements are integers, or true or false.
    package var isWhole: Bool { !isFloat }
}

extension ModelInterface {
    /// The shapes of all inputs, in their order.
    ///
    /// Extents that the model leaves open are 1 for the images of a batch, and 256 for their height
    /// and width.
    ///
    /// - Parameters:
    ///   - size: the size of images; nil for that of the model.
    ///   - model: the name of the model, for errors.
    /// - Throws: ``ModelError`` if another extent is open.
    public func inputShapes(
        size: ExportOptions.Size? = nil, of model: String
    ) throws(ModelError) -> [Shape] {
        var shapes: [Shape] = []
        for input in inputs {
            var extents = input.shapes.standard
            if input.takesPhotos {
                extents[0] = extents[0] ?? 1
                extents[2] = size?.height ?? extents[2] ?? Self.usualSide
                extents[3] = size?.width ?? extents[3] ?? Self.usualSide
            }
            let known = extents.compactMap { $0 }
            guard known.count == extents.count,
                known.allSatisfy((1...Shape.maximumExtent).contains),
                Shape(known).boundedCount != nil
            else {
                let text = extents.map { $0.map(String.init) ?? "?" }.joined(separator: ", ")
                throw ModelError(
                    .size, model,
                    known.count < extents.count
                        ? "the shape of input \(input.name), [\(text)], is open; pass a file with "
                            + "inputs of the shape that you want"
                        : "the shape of input \(input.name), [\(text)], is too large")
            }
            shapes.append(Shape(known))
        }
        return shapes
    }
}
