import ColorScience
import ImageIO

/// What is wrong with the photos of a collection as something to learn colors from.
package struct PhotoSurvey: Sendable {
    package enum Problem: Hashable, Sendable, CustomStringConvertible {
        case broken(String)
        /// The chroma that 99 of 100 pixels do not exceed.
        case gray(chroma: Float)
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

    package struct Photo: Sendable {
        package let reference: PhotoReference
        package let width, height: Int
        package let hash: PerceptualHash
        package let chroma: Float
    }

    /// Photos that can be learned from, in the collection's order.
    package private(set) var usable: [Photo] = []
    /// What is left out, and why.
    package private(set) var dropped: [(reference: PhotoReference, problem: Problem)] = []

    /// A photo whose chroma stays at or below this nearly everywhere is gray, or tinted.
    package static let grayChroma: Float = 8
    /// Photos whose hashes differ in at most so many of 64 bits are one.
    package static let sameDistance = 4

    /// Looks at every photo.
    ///
    /// - Parameter progress: is told how many are done.
    package init(_ references: [PhotoReference], progress: (Int) -> Void = { _ in }) {
        for (done, reference) in references.enumerated() {
            switch Self.look(at: reference) {
            case .success(let photo): add(photo)
            case .failure(let error): dropped.append((reference, .broken("\(error)")))
            }
            progress(done + 1)
        }
    }

    private static func look(at reference: PhotoReference) -> Result<Photo, ImageError> {
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
