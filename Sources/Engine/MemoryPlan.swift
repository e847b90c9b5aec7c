/// Gives storages places in one arena so that those whose lifetimes overlap do not.
struct MemoryPlan {
    /// Places begin at multiples of a cache line, in floats.
    private static let alignment = 16

    /// Floats that the arena needs.
    private(set) var count = 0
    private(set) var offsets: [(storage: Storage, offset: Int)] = []

    /// Places the largest first, each at the lowest offset that is free during its lifetime.
    init(_ storages: [Storage]) {
        let sorted = storages.sorted { ($0.count, $1.firstUse) > ($1.count, $0.firstUse) }
        for storage in sorted {
            guard let lifetime = storage.lifetime else { continue }
            let offset = lowestOffset(for: storage.count, lifetime)
            offsets.append((storage, offset))
            count = max(count, offset + Self.aligned(storage.count))
        }
    }

    private func lowestOffset(for size: Int, _ lifetime: ClosedRange<Int>) -> Int {
        let rivals = offsets.filter { $0.storage.lifetime?.overlaps(lifetime) ?? false }
            .sorted { $0.offset < $1.offset }
        var offset = 0
        for rival in rivals {
            if offset + Self.aligned(size) <= rival.offset { break }
            offset = max(offset, rival.offset + Self.aligned(rival.storage.count))
        }
        return offset
    }

    private static func aligned(_ count: Int) -> Int {
        (count + alignment - 1) / alignment * alignment
    }
}

extension Storage {
    fileprivate var firstUse: Int { lifetime?.lowerBound ?? 0 }
}
