import RetintFiles

/// The memory that the tensors of one load may still take: what they become counts, not what the
/// file stores, and a small file may not become a large state dict.
struct ReadBudget {
    private let limits: TensorFileLimits
    /// The bytes in all.
    private let total: Int
    private var left: Int

    /// What any file may become.
    private static let smallBytes = 256 << 20
    /// The memory for each byte of a larger file. Integers of one byte take 8, and tensors may
    /// share their elements.
    private static let largestExpansion = 16

    init(_ limits: TensorFileLimits, for file: RegularFile) {
        let (expanded, overflow) =
            file.byteCount.multipliedReportingOverflow(by: Self.largestExpansion)
        self.limits = limits
        total = min(limits.totalBytes, overflow ? .max : max(expanded, Self.smallBytes))
        left = total
    }

    /// Counts a tensor that is about to be read.
    ///
    /// - Parameter readBytes: the bytes that are read for it, if they may be more than its
    ///   elements.
    /// - Throws: ``TensorFileError`` if it is too much.
    mutating func take(
        _ count: Int, of type: StoredType, readBytes: Int = 0, at place: FilePlace
    ) throws(TensorFileError) {
        let (made, overflow) = count.multipliedReportingOverflow(by: type.memoryByteCount)
        try take(overflow ? .max : max(made, readBytes), at: place)
    }

    /// Counts bytes that are kept as they are.
    mutating func take(_ byteCount: Int, at place: FilePlace) throws(TensorFileError) {
        guard byteCount <= left else {
            let reason =
                total < limits.totalBytes
                ? "that a file of its size may take; write each tensor once, uncompressed"
                : "in all; raise the limit to read it"
            throw place.error(
                .refused,
                "its \(byteCount) bytes in memory exceed the limit of \(total) bytes \(reason)")
        }
        left -= byteCount
    }
}

extension StoredType {
    /// The bytes that an element takes while it is read: as it is stored, and as a `Float` or an
    /// `Int64`.
    fileprivate var memoryByteCount: Int { max(byteCount, isFloat ? 4 : 8) }
}
