import RetintRuntime

/// How a photo is fitted to the network, and the network's colors to the photo.
public struct PhotoFitting: Hashable, Sendable {
    /// The proportions at which the network sees a photo.
    public enum Proportions: String, CaseIterable, Sendable {
        /// A square, whatever the photo's proportions are.
        case square
        /// Those of the photo, as closely as sides that the network takes allow. The area is that
        /// of the square.
        case own
    }

    /// How colors are enlarged to the photo's size.
    public enum Enlargement: String, CaseIterable, Sendable {
        /// Each value between its four neighbors.
        case bilinear
        /// By the photo's lightness, as a guided filter: where colors change together with the
        /// lightness, they do so at the photo's own edge.
        case guided
    }

    /// The proportions at which the network sees a photo.
    public var proportions: Proportions
    /// How colors are enlarged.
    public var enlargement: Enlargement

    /// A square, and bilinear enlargement.
    package static let square = PhotoFitting(proportions: .square, enlargement: .bilinear)

    /// By default what is better by measure, see <doc:ColorPhotos>.
    public init(proportions: Proportions = .square, enlargement: Enlargement = .guided) {
        (self.proportions, self.enlargement) = (proportions, enlargement)
    }
}

/// The sizes at which a network sees photos.
package struct NetworkSizes {
    /// The size at which it sees all photos, or whose area others have.
    package let base: (height: Int, width: Int)
    /// What both sides are multiples of; nil if there is one size.
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
