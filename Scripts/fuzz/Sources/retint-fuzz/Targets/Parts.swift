/// Several files in one input: each is preceded by its length in three bytes, but for the last.
struct Parts {
    var files: [[UInt8]]

    init(_ files: [[UInt8]]) { self.files = files }

    /// Takes an input apart; a length that is too large is cut.
    init(_ input: [UInt8], count: Int) {
        var rest = input[...]
        files = []
        for _ in 1..<count {
            let length = rest.prefix(3).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(3)
            files.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        files.append(Array(rest))
    }

    var bytes: [UInt8] {
        files.dropLast().reduce(into: []) { bytes, file in
            bytes += [16, 8, 0].map { UInt8(truncatingIfNeeded: file.count >> $0) } + file
        } + files[files.count - 1]
    }

    /// Changes one of the files, which keeps the others whole.
    static func mutated(
        _ input: [UInt8], count: Int, limit: Int, seed: UInt32,
        change: ([UInt8], Int) -> [UInt8]
    ) -> [UInt8] {
        var parts = Parts(input, count: count)
        let index = Int(seed) % count
        let others = parts.bytes.count - parts.files[index].count
        guard others < limit else { return change(input, limit) }
        parts.files[index] = change(parts.files[index], limit - others)
        return parts.bytes
    }

    /// Changes one of two files behind a byte below 224, which stays: it says what the files are.
    ///
    /// - Returns: nil where the bytes are to be changed as a whole.
    static func mutatedAfterMode(
        _ input: [UInt8], limit: Int, seed: UInt32, change: ([UInt8], Int) -> [UInt8]
    ) -> [UInt8]? {
        guard let mode = input.first, mode < 224, seed & 15 != 0, limit > 1 else { return nil }
        return [mode]
            + mutated(
                Array(input.dropFirst()), count: 2, limit: limit - 1, seed: seed >> 4,
                change: change)
    }
}

/// A target whose input is a number of files, of which one is changed at a time.
protocol PartsTarget: FuzzTarget {
    var partCount: Int { get }
}

extension PartsTarget {
    func mutated(
        _ input: [UInt8], limit: Int, seed: UInt32, change: ([UInt8], Int) -> [UInt8]
    ) -> [UInt8]? {
        Parts.mutated(input, count: partCount, limit: limit, seed: seed, change: change)
    }
}
