import RetintFiles

/// Finds the weight of a second model for each weight of a first one.
///
/// First come weights of the same name with the same values, then weights with the same values
/// whatever they are called, then those of the same name and shape, then those with the same values
/// in another order, then those of the same name. What is left is paired in order where both models
/// have the same number of weights of a shape. Values count as the same if they are in half
/// precision.
struct WeightPairing {
    private(set) var pairs: [(Int, Int)] = []
    private(set) var restOfFirst: [Int] = []
    private(set) var restOfSecond: [Int] = []

    private let first: [Key]
    private let second: [Key]

    /// What a weight is paired by.
    private struct Key {
        let name: String
        let shape: [Int]
        let print: WeightPrint
    }

    /// - Throws: the errors of reading weights.
    init(_ first: [WeightSource], _ second: [WeightSource]) throws {
        func keys(_ sources: [WeightSource]) throws -> [Key] {
            try sources.map { source in
                Key(
                    name: plainWeightName(source.weight.name), shape: source.shape,
                    print: try WeightPrint(source.read()))
            }
        }
        (self.first, self.second) = (try keys(first), try keys(second))
        (restOfFirst, restOfSecond) = (Array(first.indices), Array(second.indices))
        pair { "\($0.name) \($0.shape) \($0.print.content.hexadecimal)" }
        pair { "\($0.shape) \($0.print.content.hexadecimal)" }
        pair { "\($0.name) \($0.shape)" }
        pair { "\($0.shape.sorted()) \($0.print.elements)" }
        pair(by: \.name)
        pairInOrder()
        pairs.sort { $0.0 < $1.0 }
    }

    /// Pairs what is left by a property, in order among equals.
    private mutating func pair(by property: (Key) -> String) {
        var waiting = Dictionary(grouping: restOfSecond) { property(second[$0]) }
            .mapValues { $0[...] }
        var taken: Set<Int> = []
        restOfFirst = restOfFirst.filter { index in
            guard let match = waiting[property(first[index])]?.popFirst() else { return true }
            pairs.append((index, match))
            taken.insert(match)
            return false
        }
        restOfSecond = restOfSecond.filter { !taken.contains($0) }
    }

    /// Pairs weights of shapes that both models have left equally often.
    private mutating func pairInOrder() {
        let own = Dictionary(grouping: restOfFirst) { first[$0].shape }
        let theirs = Dictionary(grouping: restOfSecond) { second[$0].shape }
        for (shape, indices) in own {
            guard let matches = theirs[shape], matches.count == indices.count else { continue }
            pairs += zip(indices, matches)
            let (taken, gone) = (Set(indices), Set(matches))
            restOfFirst.removeAll(where: taken.contains)
            restOfSecond.removeAll(where: gone.contains)
        }
    }
}
