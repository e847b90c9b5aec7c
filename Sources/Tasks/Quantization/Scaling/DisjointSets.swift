/// Numbers from 0 in sets that are merged: union by size.
struct DisjointSets {
    private var parents: [Int] = []
    /// The size of each root's set.
    private var sizes: [Int] = []

    var count: Int { parents.count }

    /// Sets of one number each.
    init(count: Int = 0) {
        for _ in 0..<count { add() }
    }

    /// Adds the next number, in a set of its own.
    @discardableResult mutating func add() -> Int {
        parents.append(parents.count)
        sizes.append(1)
        return parents.count - 1
    }

    /// The number that stands for the set of this one.
    func root(_ number: Int) -> Int {
        var number = number
        while parents[number] != number { number = parents[number] }
        return number
    }

    /// Merges two sets.
    ///
    /// - Returns: the root of the set, and the one that is no longer a root; nil if they were one.
    @discardableResult mutating func unite(
        _ first: Int, _ second: Int
    ) -> (root: Int, merged: Int)? {
        let (a, b) = (root(first), root(second))
        guard a != b else { return nil }
        let (large, small) = sizes[a] < sizes[b] ? (b, a) : (a, b)
        parents[small] = large
        sizes[large] += sizes[small]
        return (large, small)
    }
}
