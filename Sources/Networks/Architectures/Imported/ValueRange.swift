import RetintGraph

/// The values that a network computes with, for a quantity of which the bounds are known.
public enum ValueRange: Hashable, Sendable {
    /// The bounds of the quantity become these two numbers, and what is between them is in
    /// proportion: `0..255` for a photo of levels.
    case linear(lower: Float, upper: Float)
    /// A photo in 0…1, less the mean of ImageNet's photos, divided by their standard deviation:
    /// (0.485, 0.456, 0.406) and (0.229, 0.224, 0.225) for red, green and blue, as torchvision's
    /// networks take it.
    case imageNet

    /// 0…1.
    public static let unit = ValueRange.linear(lower: 0, upper: 1)
    /// −1…1.
    public static let signed = ValueRange.linear(lower: -1, upper: 1)

    private static let mean: [Float] = [0.485, 0.456, 0.406]
    private static let deviation: [Float] = [0.229, 0.224, 0.225]

    /// A value of a photo.
    ///
    /// - Parameters:
    ///   - share: the value in 0…1.
    ///   - channel: red, green or blue.
    ///   - channels: the number of channels; one has the averages of the three.
    public func value(_ share: Float, channel: Int, of channels: Int) -> Float {
        switch self {
        case .linear(let lower, let upper): return lower + (upper - lower) * share
        case .imageNet:
            guard channels == 3 else { return (share - 0.449) / 0.226 }
            return (share - Self.mean[channel]) / Self.deviation[channel]
        }
    }

    /// The values in this range of a tensor whose elements are within `bounds`.
    ///
    /// - Parameter x: [N, C, H, W]; of three channels for ``imageNet``.
    func values(of x: Tensor, within bounds: ClosedRange<Float>) -> Tensor {
        switch self {
        case .linear(let lower, let upper):
            let scale = (upper - lower) / (bounds.upperBound - bounds.lowerBound)
            return affine(x, scale, lower - scale * bounds.lowerBound)
        case .imageNet:
            let share = affine(x, 1 / bounds.upperBound, 0)
            let channels = (0..<3).map { channel in
                affine(
                    share.sliced(axis: 1, channel..<channel + 1), 1 / Self.deviation[channel],
                    -Self.mean[channel] / Self.deviation[channel])
            }
            return concat(channels, axis: 1)
        }
    }

    /// The values in this range of the pixels of an image, 0…255.
    ///
    /// - Parameter pixels: [N, C, H, W]; of three channels for ``imageNet``.
    package func values(ofPixels pixels: Tensor) -> Tensor { values(of: pixels, within: 0...255) }

    /// What ``values(of:within:)`` was computed from; ``imageNet`` is not the range of a result.
    func inverted(_ x: Tensor, within bounds: ClosedRange<Float>) -> Tensor {
        guard case .linear(let lower, let upper) = self else { return x }
        let scale = (bounds.upperBound - bounds.lowerBound) / (upper - lower)
        return affine(x, scale, bounds.lowerBound - scale * lower)
    }

    /// The pixels of an image, 0…255, of values in this range; ``imageNet`` is not the range of a
    /// result.
    package func pixels(ofValues values: Tensor) -> Tensor { inverted(values, within: 0...255) }

    private func affine(_ x: Tensor, _ scale: Float, _ offset: Float) -> Tensor {
        let scaled = scale == 1 ? x : x * scale
        return offset == 0 ? scaled : scaled + offset
    }
}

extension ValueRange: CustomStringConvertible {
    /// Reads `A..B`, such as `0..1` and `-1..1`, or `imagenet`; nil for other texts, and unless A
    /// and B are finite and differ.
    public init?(_ text: String) {
        if text == "imagenet" {
            self = .imageNet
            return
        }
        guard let dots = text.firstRange(of: ".."), text[dots.upperBound...].first != ".",
            let lower = Float(text[..<dots.lowerBound]),
            let upper = Float(text[dots.upperBound...]), lower.isFinite, upper.isFinite,
            lower != upper, (upper - lower).isFinite
        else { return nil }
        self = .linear(lower: lower, upper: upper)
    }

    /// As ``init(_:)`` reads it.
    public var description: String {
        switch self {
        case .linear(let lower, let upper): "\(Self.text(lower))..\(Self.text(upper))"
        case .imageNet: "imagenet"
        }
    }

    private static func text(_ number: Float) -> String {
        number == number.rounded() && abs(number) < 1e6 ? "\(Int(number))" : "\(number)"
    }
}
