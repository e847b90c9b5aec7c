import RetintRuntime

/// How a photo is fitted to the network, and the network's colors to the photo.
public struct PhotoFitting: Hashable, Sendable {
    /// The aspect ratio of the network's input.
    public enum Proportions: String, CaseIterable, Sendable {
        /// A square, whatever the photo's aspect ratio is.
        case square
        /// That of the photo, as closely as the sides that the network accepts allow. The area is
        /// that of the square.
        case own
    }

    /// How colors are upsampled to the photo's size.
    public enum Enlargement: String, CaseIterable, Sendable {
        /// Interpolates each value between its four neighbors.
        case bilinear
        /// A guided filter by the photo's lightness: where colors change together with the
        /// lightness, they do so at the photo's own edge.
        case guided
    }

    /// The aspect ratio of the network's input.
    public var proportions: Proportions
    /// How colors are upsampled.
    public var enlargement: Enlargement

    /// A square, and bilinear upsampling.
    package static let square = PhotoFitting(proportions: .square, enlargement: .bilinear)

    /// The default, chosen by measurement, see <doc:ColorPhotos>.
    public init(proportions: Proportions = .square, enlargement: Enlargement = .guided) {
        (self.proportions, self.enlargement) = (proportions, enlargement)
    }
}

/// The input sizes of a network for photos.
package struct NetworkSizes {
    /// The size for all photos, or the size whose area the others have.
    package let base: (height: Int, width: Int)
    /// Both sides are multiples of this; nil if there is only one size.
    package let multiple: Int?

    /// - Parameter size: the side of the square; nil for the model's own size.
    package init(_ model: Model, size: Int?, _ proportions: PhotoFitting.Proportions) throws {
        base = try model.size(ofSide: size)
        multiple = proportions == .own ? try model.requiredMultiple : nil
    }

    /// The size for a photo.
    package func size(forHeight height: Int, width: Int) -> (height: Int, width: Int) {
        guard let multiple else { return base }
        let area = Double(base.height * base.width)
        let ratio = Double(width) / Double(height)
        func side(_ length: Double) -> Int {
            // A panorama of any length has a bounded number of sizes.
            let longest = 4 * area.squareRoot()
            let units = (min(length, longest) / Double(multiple)).rounded()
            return max(Int(units), 1) * multiple
        }
        return (side((area / ratio).squareRoot()), side((area * ratio).squareRoot()))
    }
}
