/// A page of a TIFF: the fields that describe it. Images are read from the first one alone.
struct TIFFDirectory {
    private let numbers: TIFFNumbers
    private let offset: Int
    private let count: Int

    /// The first page; nil if the data are not a TIFF.
    init?(_ data: [UInt8]) {
        guard let numbers = TIFFNumbers(data), let first = numbers.firstDirectory else {
            return nil
        }
        self.init(numbers, at: first)
    }

    private init?(_ numbers: TIFFNumbers, at offset: Int) {
        guard let count = numbers.number(at: offset, bytes: 2) else { return nil }
        (self.numbers, self.offset, self.count) = (numbers, offset, count)
    }

    /// Whether there is a second page; one that is a smaller copy of another does not count.
    var hasNext: Bool {
        let end = entry(count)
        guard let next = numbers.number(at: end, bytes: 4), next != 0,
            let second = TIFFDirectory(numbers, at: next)
        else { return false }
        let kind = second.field(.newSubfileType).flatMap { numbers.number(at: $0 + 8, bytes: 4) }
        return (kind ?? 0) & Self.isReduced == 0
    }

    /// The bits of a sample; those of the first one if there are several.
    var bitsPerSample: Int? {
        field(.bitsPerSample).flatMap { first(of: $0, bytes: 2) }
    }

    /// Whether the first sample after the colors is alpha, multiplied or not.
    var hasAlpha: Bool {
        guard let field = field(.extraSamples) else { return false }
        let kind = first(of: field, bytes: 2)
        return kind == 1 || kind == 2
    }

    /// The first number of a field; numbers that do not fit into four bytes are elsewhere.
    private func first(of field: Int, bytes: Int) -> Int? {
        guard let count = numbers.number(at: field + 4, bytes: 4) else { return nil }
        let fits = count <= 4 / bytes
        let place = fits ? field + 8 : numbers.number(at: field + 8, bytes: 4)
        return place.flatMap { numbers.number(at: $0, bytes: bytes) }
    }

    private enum Tag: Int {
        case newSubfileType = 254
        case bitsPerSample = 258
        case extraSamples = 338
    }

    /// The offset of a field.
    private func field(_ tag: Tag) -> Int? {
        (0..<count).lazy.map(entry).first { numbers.number(at: $0, bytes: 2) == tag.rawValue }
    }

    private func entry(_ index: Int) -> Int { offset + 2 + Self.entrySize * index }

    private static let entrySize = 12
    private static let isReduced = 1
}
