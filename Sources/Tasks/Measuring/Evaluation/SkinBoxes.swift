import RetintColor
public import RetintFiles
import RetintPhotoData
import SystemPackage

/// Where `evaluate` looks for skin.
public enum SkinMeasure: Hashable, Sendable {
    /// All that has the chroma of skin, which some wood, brick and food have, too.
    case wholePhotos
    /// What has the chroma of skin in boxes that somebody drew around people's skin. Photos without
    /// boxes are not measured.
    case boxes(SkinBoxes)

    func regions(of photo: PhotoReference) -> SkinRegions {
        switch self {
        case .wholePhotos: .fields
        case .boxes(let boxes): .boxes(boxes.boxes(of: photo))
        }
    }

    /// - Throws: ``PhotoError`` if none of the photos has a box.
    func check(_ photos: [PhotoReference]) throws(PhotoError) {
        guard case .boxes(let boxes) = self else { return }
        guard photos.contains(where: { !boxes.boxes(of: $0).isEmpty }) else {
            throw PhotoError(
                .boxes, file: boxes.path, rule: "none of the photos has a box there",
                remedy: "write the paths of photos relative to the table's folder; symbolic links "
                    + "are not followed, and photos in a packed dataset cannot have boxes")
        }
    }
}

/// Where skin is measured in one photo.
enum SkinRegions: Hashable, Sendable {
    case fields
    case boxes([SkinBoxes.Box])

    /// - Returns: nil for the fields of the whole image.
    func pixels(width: Int, height: Int) -> [PixelRegion]? {
        guard case .boxes(let boxes) = self else { return nil }
        func range(_ start: Double, _ length: Double, _ side: Int) -> Range<Int> {
            let first = Int((start * Double(side)).rounded())
            return first..<max(first, Int(((start + length) * Double(side)).rounded()))
        }
        return boxes.map {
            PixelRegion(
                rows: range($0.y, $0.height, height), columns: range($0.x, $0.width, width))
        }
    }
}

/// Boxes around people's skin in photos, such as faces and hands. Pixels in two boxes count twice.
public struct SkinBoxes: Hashable, Sendable {
    /// Shares of a photo's width and height, 0…1, from its upper left corner.
    struct Box: Hashable {
        let x, y, width, height: Double
    }

    private static let header = ["photo", "x", "y", "width", "height"]
    /// How far a box may reach beyond its photo, for values that were rounded.
    private static let slack = 1e-3

    let path: String
    private let boxes: [FilePath: [Box]]

    /// Reads a table of tab-separated values with the header `photo x y width height`: the path of
    /// a photo, relative to the table's folder, and a box in shares of the photo's width and
    /// height, 0…1, from its upper left corner.
    ///
    /// - Throws: `FileError` if the file cannot be read; `PhotoError` with the line that is not of
    ///   this form.
    public init(contentsOf path: some PathConvertible) throws {
        self.path = path.filePath.string
        let folder = path.filePath.removingLastComponent()
        // Only what ends lines on Linux and Windows: other line breaks may be part of a name.
        let rows = try readText(path, maximumBytes: 1 << 26).unicodeScalars
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.last == "\r" ? $0.dropLast() : $0 }
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        guard rows[0] == Self.header else {
            throw Self.fault(self.path, 0, "it is not the header of such a table")
        }
        var boxes: [FilePath: [Box]] = [:]
        for (line, row) in rows.enumerated().dropFirst() where row != [""] {
            guard row.count == Self.header.count, !row[0].isEmpty else {
                throw Self.fault(self.path, line, "it does not have a photo and four numbers")
            }
            guard let box = Self.box(row.dropFirst().map(Double.init)) else {
                throw Self.fault(self.path, line, "it is not a box within the photo")
            }
            let photo = RelativePath.absolute(folder.pushing(FilePath(row[0])))
            boxes[photo, default: []].append(box)
        }
        self.boxes = boxes
    }

    /// - Returns: nil if it is not within a photo.
    private static func box(_ values: [Double?]) -> Box? {
        let numbers = values.compactMap { $0 }
        guard numbers.count == 4, numbers.allSatisfy({ (0...1).contains($0) }) else { return nil }
        let box = Box(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        let isWithin = max(box.x + box.width, box.y + box.height) <= 1 + slack
        return min(box.width, box.height) > 0 && isWithin ? box : nil
    }

    private static func fault(_ path: String, _ line: Int, _ rule: String) -> PhotoError {
        PhotoError(
            .boxes, file: path, place: "line \(line + 1)", rule: rule,
            remedy: "Write \(header.joined(separator: ", ")), separated by tabs, such as "
                + "people/1.jpg, 0.25, 0.1, 0.2, 0.3.")
    }

    /// The boxes of a photo; empty for a packed one.
    func boxes(of photo: PhotoReference) -> [Box] {
        guard case .file(let path) = photo else { return [] }
        return boxes[RelativePath.absolute(path.filePath)] ?? []
    }
}
