import RetintColor
import RetintImages

/// The photos of a collection that a network can learn colors from, and those that it cannot:
/// broken files, gray photos and duplicates.
public struct PhotoSurvey: Sendable {
    /// Why a photo is left out.
    public enum Problem: Hashable, Sendable, CustomStringConvertible {
        /// The photo cannot be read.
        case broken(String)
        /// The photo is gray or tinted in one color; `chroma` is the 99th percentile over its
        /// pixels.
        case gray(chroma: Float)
        /// The photo looks like another one; `distance` of the 64 bits of their hashes differ.
        case duplicate(of: String, distance: Int)

        /// `broken`, `gray` or `duplicate`.
        public var kind: String {
            switch self {
            case .broken: "broken"
            case .gray: "gray"
            case .duplicate: "duplicate"
            }
        }

        /// The reason in words, such as `duplicate of a.jpg (2 of 64 bits differ)`.
        public var description: String {
            switch self {
            case .broken(let reason): "broken: \(reason)"
            case .gray(let chroma):
                "gray: 99 % of the pixels have a chroma of at most \(Int(chroma.rounded()))"
            case .duplicate(let other, let distance):
                "duplicate of \(other) (\(distance) of 64 bits differ)"
            }
        }
    }

    /// A photo that a network can learn from.
    public struct Photo: Sendable {
        /// Where the photo is.
        public let reference: PhotoReference
        /// The size in pixels at which the photo was decoded: large JPEG files are decoded at a
        /// fraction of their size.
        public let width, height: Int
        package let hash: PerceptualHash
        /// The 99th percentile of the chroma √(a² + b²) over the pixels of a 64 × 64 copy.
        public let chroma: Float
    }

    /// The photos that a network can learn from, in the order of the collection.
    public private(set) var usable: [Photo] = []
    /// The photos that are left out, and why.
    public private(set) var dropped: [(reference: PhotoReference, problem: Problem)] = []

    /// The chroma at or below which a photo counts as gray.
    public static let grayChroma: Float = 8
    /// The number of differing bits up to which two photos count as duplicates.
    public static let duplicateDistance = 4

    /// Examines every photo.
    ///
    /// - Parameter progress: called with the number of photos examined so far.
    public init(_ references: [PhotoReference], progress: (Int) -> Void = { _ in }) {
        for (done, reference) in references.enumerated() {
            switch Self.examine(reference) {
            case .success(let photo): add(photo)
            case .failure(let error): dropped.append((reference, .broken("\(error)")))
            }
            progress(done + 1)
        }
    }

    private static func examine(_ reference: PhotoReference) -> Result<Photo, ImageError> {
        do throws(ImageError) {
            let image = try reference.image(minimumSide: 128)
            let small = image.resized(to: 64, height: 64, filter: .bilinear)
            let planes = lab(fromRGB: small.pixels)
            let chroma = zip(planes.a, planes.b).map { ($0 * $0 + $1 * $1).squareRoot() }.sorted()
            return .success(
                Photo(
                    reference: reference, width: image.width, height: image.height,
                    hash: PerceptualHash(image), chroma: chroma[chroma.count * 99 / 100]))
        } catch {
            return .failure(error)
        }
    }

    private mutating func add(_ photo: Photo) {
        guard photo.chroma > Self.grayChroma else {
            return dropped.append((photo.reference, .gray(chroma: photo.chroma)))
        }
        for other in usable {
            let distance = photo.hash.distance(to: other.hash)
            guard distance <= Self.duplicateDistance else { continue }
            let problem = Problem.duplicate(of: "\(other.reference)", distance: distance)
            return dropped.append((photo.reference, problem))
        }
        usable.append(photo)
    }
}
