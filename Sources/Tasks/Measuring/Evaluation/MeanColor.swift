import RetintColor
import RetintImages

/// The mean a and b over the pixels of photos, with each photo weighted equally.
struct MeanColor: Codable {
    let a, b: Double

    /// Of one photo.
    init(_ photo: Image) {
        // A small copy has the same mean, in a hundredth of the time.
        let planes = lab(fromRGB: photo.resized(to: 64, height: 64).pixels)
        a = planes.a.reduce(0) { $0 + Double($1) } / Double(planes.count)
        b = planes.b.reduce(0) { $0 + Double($1) } / Double(planes.count)
    }

    /// The mean of several photos; 0 if there are none.
    init(_ photos: [MeanColor]) {
        let count = Double(max(photos.count, 1))
        a = photos.reduce(0) { $0 + $1.a } / count
        b = photos.reduce(0) { $0 + $1.b } / count
    }
}
