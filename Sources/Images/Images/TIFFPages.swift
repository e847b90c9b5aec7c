/// The pages of a TIFF. Images are read from the first one alone.
enum TIFFPages {
    /// Whether there is a second page; one that is a smaller copy of another does not count.
    static func hasSecond(_ data: [UInt8]) -> Bool {
        let isLittle = data.first == UInt8(ascii: "I")
        func number(at place: Int, bytes count: Int) -> Int? {
            guard place >= 0, place + count <= data.count else { return nil }
            let bytes = data[place..<place + count]
            return (isLittle ? Array(bytes.reversed()) : Array(bytes))
                .reduce(0) { $0 << 8 | Int($1) }
        }
        // The number of entries, and where they begin.
        func directory(at start: Int) -> (count: Int, entries: Int)? {
            number(at: start, bytes: 2).map { ($0, start + 2) }
        }
        guard number(at: 2, bytes: 2) == 42, let start = number(at: 4, bytes: 4),
            let first = directory(at: start),
            let next = number(at: first.entries + entrySize * first.count, bytes: 4), next != 0,
            let second = directory(at: next)
        else { return false }
        let kinds = (0..<second.count).lazy.map { second.entries + entrySize * $0 }
            .first { number(at: $0, bytes: 2) == newSubfileType }
        let kind = kinds.flatMap { number(at: $0 + 8, bytes: 4) } ?? 0
        return kind & isReduced == 0
    }

    private static let entrySize = 12
    private static let newSubfileType = 254
    private static let isReduced = 1
}
