/// Counts the bytes that the values of a model take from its files. Values may share bytes, but
/// thousands of them would be as many copies in memory.
package struct SharedBytes {
    /// Bytes that may be shared in any case, such as those of small constants.
    private static let smallBytes = 64 << 20
    /// The values that each byte may belong to, on average.
    private static let mostCopies = 4
    /// The bytes of values, and those of the files.
    private var (taken, available) = (0, 0)

    package init() {}

    /// Adds a file.
    package mutating func add(_ file: RegularFile) {
        available = min(available + file.byteCount, .max / (2 * Self.mostCopies))
    }

    /// Counts the bytes of one more value, which are in one of the files.
    ///
    /// - Returns: the rule that is broken if values take too much; otherwise nil.
    package mutating func take(_ count: Int) -> String? {
        let (sum, overflow) = taken.addingReportingOverflow(count)
        taken = overflow ? .max : sum
        guard taken > max(Self.smallBytes, Self.mostCopies * available) else { return nil }
        return "the values up to it take \(taken) bytes from files of \(available)"
    }
}
