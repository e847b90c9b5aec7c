import ColorScience
import ImageIO

/// The photos of a collection that are fit for training, and the problems of the others.
package struct PhotoSurvey: Sendable {
    /// Why a photo is dropped.
    package enum Problem: Hashable, Sendable, CustomStringConvertible {
        /// The photo cannot be read, for the given reason.
        case broken(String)
        /// The photo has hardly any color; `chroma` is the 99th percentile over its pixels.
        case gray(chroma: Float)
        /// The photo looks like an earlier one; `distance` is the number of hash bits that differ.
        case duplicate(of: String, distance: Int)

        package var kind: String {
            switch self {
            case .broken: "broken"
            case .gray: "gray"
            case .duplicate: "duplicate"
            }
        }

        package var description: String {
            switch self {
            case .broken(let reason): "broken: \(reason)"
            case .gray(let chroma):
                "gray: 99 of 100 pixels have a chroma of at most \(Int(chroma.rounded()))"
            case .duplicate(let other, let distance):
                "duplicate of \(other) (\(distance) of 64 bits differ)"
            }
        }
    }

    /// A photo that was read.
    package struct Photo: Sendable {
        package let reference: PhotoReference
        package let width, height: Int
        package let hash: PerceptualHash
        package let chroma: Float
    }

    /// The photos fit for training, in the collection's order.
    package private(set) var usable: [Photo] = []
    /// The photos that were dropped, and why.
    package private(set) var dropped: [(reference: PhotoReference, problem: Problem)] = []

    /// The largest chroma, as a 99th percentile, of a photo that counts as gray or tinted.
    package static let grayChroma: Float = 8
    /// The largest number of differing hash bits, of 64, at which photos count as duplicates.
    package static let sameDistance = 4

    /// Reads and checks every photo.
    ///
    /// - Parameters:
    ///   - references: the photos.
    ///   - progress: called with the number of photos that are done.
    package init(_ references: [PhotoReference], progress: (Int) -> Void = { _ in }) {
        for (done, reference) in references.enumerated() {
            switch Self.read(reference) {
            case .success(let photo): add(photo)
            case .failure(let error): dropped.append((reference, .broken("\(error)")))
            }
            progress(done + 1)
        }
    }

    private static func read(_ reference: PhotoReference) -> Result<Photo, ImageError> {
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
            guard distance <= Self.sameDistance else { continue }
            let problem = Problem.duplicate(of: "\(other.reference)", distance: distance)
            return dropped.append((photo.reference, problem))
        }
        usable.append(photo)
    }
}
