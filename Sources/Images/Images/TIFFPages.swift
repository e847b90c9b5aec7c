/// The pages of a TIFF. Images are read from the first one alone.
enum TIFFPages {
    /// Whether there is a second page; one that is a smaller copy of another does not count.
    static func hasSecond(_ data: [UInt8]) -> Bool {
        guard let numbers = TIFFNumbers(data), let first = numbers.firstDirectory,
            let count = numbers.number(at: first, bytes: 2),
            let second = numbers.number(at: first + 2 + entrySize * count, bytes: 4), second != 0,
            let entries = numbers.number(at: second, bytes: 2)
        else { return false }
        let kinds = (0..<entries).lazy.map { second + 2 + entrySize * $0 }
            .first { numbers.number(at: $0, bytes: 2) == newSubfileType }
        let kind = kinds.flatMap { numbers.number(at: $0 + 8, bytes: 4) } ?? 0
        return kind & isReduced == 0
    }

    private static let entrySize = 12
    private static let newSubfileType = 254
    private static let isReduced = 1
}
