import RetintGraph

/// The memory that a program may still allocate.
package struct MemoryBudget {
    private let limit: Int
    /// The bytes of values that live from run to run.
    private var taken = 0

    package init(bytes limit: Int) { self.limit = limit }

    /// Counts the elements of a value that lives from run to run.
    ///
    /// - Returns: the needed and the available memory if it is too much; otherwise nil.
    package mutating func take(_ count: Int) -> String? {
        if let excess = excess(count) { return excess }
        taken += count * MemoryLayout<Float>.size
        return nil
    }

    /// The memory that more elements need, and what is available, if it is too much.
    ///
    /// - Parameter count: at most `Shape.maximumCount`, or the sum of a few such.
    package func excess(_ count: Int) -> String? {
        let bytes = count * MemoryLayout<Float>.size
        guard bytes > limit - taken else { return nil }
        return "\(Self.text(bytes)), and \(Self.text(limit - taken)) of the limit of "
            + "\(Self.text(limit)) are left; raise the limit of memory if the machine has more"
    }

    private static func text(_ bytes: Int) -> String {
        let mebibytes = (Double(bytes) / Double(1 << 20)).rounded(.up)
        return "\(Int(mebibytes)) MiB"
    }
}
