/// Offsets of storages in one arena, so that storages with overlapping lifetimes do not overlap.
package struct MemoryPlan {
    /// Offsets are multiples of a cache line, in words of 32 bits.
    private static let alignment = 16
    /// The number of storages that are placed exactly: each is compared with all placed before.
    private static let exactlyPlaced = 4096

    /// Words of 32 bits that the arena needs.
    package private(set) var count = 0
    package private(set) var offsets: [(storage: Storage, offset: Int)] = []
    /// The storages placed exactly, by increasing offset.
    private var placed: [Placement] = []

    private struct Placement {
        let offset, end: Int
        let lifetime: ClosedRange<Int>
    }

    /// Places the largest storages first, each at the lowest offset that is free during its
    /// lifetime. If there are very many, the small rest is placed after those, in linear time.
    package init(_ storages: [Storage]) {
        let sorted = storages.filter { $0.lifetime != nil }
            .sorted { ($0.words, $1.firstUse) > ($1.words, $0.firstUse) }
        for storage in sorted.prefix(Self.exactlyPlaced) { placeExactly(storage) }
        placeBySize(Array(sorted.dropFirst(Self.exactlyPlaced)))
    }

    private mutating func placeExactly(_ storage: Storage) {
        guard let lifetime = storage.lifetime else { return }
        let size = Self.aligned(storage.words)
        var offset = 0
        for rival in placed where rival.lifetime.overlaps(lifetime) {
            if offset + size <= rival.offset { break }
            offset = max(offset, rival.end)
        }
        offsets.append((storage, offset))
        let index = placed.firstIndex { $0.offset > offset } ?? placed.count
        placed.insert(
            Placement(offset: offset, end: offset + size, lifetime: lifetime), at: index)
        count = max(count, offset + size)
    }

    /// Goes through the storages by first use; when the lifetime of one ends, its memory goes to
    /// the next of its size.
    private mutating func placeBySize(_ storages: [Storage]) {
        var free: [Int: [Int]] = [:]
        var ending = Dictionary(grouping: storages.indices) { storages[$0].lastUse }
        var offsetOf = [Int](repeating: 0, count: storages.count)
        let byFirstUse = storages.indices.sorted { storages[$0].firstUse < storages[$1].firstUse }
        var step = byFirstUse.first.map { storages[$0].firstUse } ?? 0
        for index in byFirstUse {
            while step < storages[index].firstUse {
                for old in ending.removeValue(forKey: step) ?? [] {
                    free[Self.aligned(storages[old].words), default: []].append(offsetOf[old])
                }
                step += 1
            }
            let size = Self.aligned(storages[index].words)
            if let offset = free[size]?.popLast() {
                offsetOf[index] = offset
            } else {
                offsetOf[index] = count
                count += size
            }
            offsets.append((storages[index], offsetOf[index]))
        }
    }

    private static func aligned(_ count: Int) -> Int {
        (count + alignment - 1) / alignment * alignment
    }
}

extension Storage {
    fileprivate var firstUse: Int { lifetime?.lowerBound ?? 0 }
    fileprivate var lastUse: Int { lifetime?.upperBound ?? 0 }
}
