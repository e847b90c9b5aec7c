import RetintRuntime
import RetintTensors

/// Pairs the values of two networks that do not share names: first by the values themselves, then
/// by what they are computed from.
struct StructuralMatching {
    /// One of a network's values.
    struct Item {
        /// The operation of the graph, the same in all formats.
        let operation: String
        let shape: Shape
        /// The items that it is computed from; empty if that is not known.
        let inputs: [Int]
        /// Elements of the value on the first inputs; nil if they were not computed.
        let signature: ValueSignature?
        /// The path of the module that computes the value; nil if that is not known.
        var module: String? = nil
        /// What that module computes; nil if it is not known.
        var kind: ModuleKind? = nil
        /// Whether it is only what a convolution returns to the normalization that an export folds
        /// into it.
        fileprivate var isFoldedAway = false

        init(
            operation: String, shape: Shape, inputs: [Int], signature: ValueSignature?,
            module: String? = nil, kind: ModuleKind? = nil
        ) {
            (self.operation, self.shape, self.inputs) = (operation, shape, inputs)
            (self.signature, self.module, self.kind) = (signature, module, kind)
        }

        /// Whether the value may be the result of another's module, or of a part of that.
        fileprivate func mayBe(of other: Item) -> Bool {
            guard !other.isFoldedAway, other.kind?.mayEnd(with: operation) ?? true else {
                return false
            }
            guard let module, let theirs = other.module else { return true }
            return module == theirs || module.hasPrefix(theirs + ".")
        }
    }

    /// A pair of items: the second network's, and how it was found.
    struct Pair: Hashable {
        let other: Int
        let pairing: VerificationReport.Pairing
    }

    /// The pairs by the indices of the first network's items.
    private(set) var pairs: [Int: Pair]
    private var taken: Set<Int>
    private let own: [Item]
    private let others: [Item]
    private let agreement, outputDifference: Double

    /// Two values are the same below this relative difference. Quantized weights alone change
    /// values by a tenth.
    private static let closest = 0.2
    /// Below this relative difference, nothing tells values apart but rounding.
    private static let rounding = 1e-6
    /// Below this relative difference, values agree in any case.
    private static let leastAgreement = 1e-3
    /// The next candidate has to be this many times farther away, unless order decides.
    private static let margin = 3.0

    /// - Parameters:
    ///   - own: the first network's values, in the order of computation.
    ///   - others: the second network's.
    ///   - known: pairs that are certain.
    ///   - names: pairs of equal names, which two programs may have chosen by chance: they count
    ///     after the values, and only for one operation.
    ///   - agreement: the relative difference below which values agree, at most.
    ///   - outputDifference: the largest of the outputs. If they agree, values without a
    ///     counterpart are right as well.
    init(
        _ own: [Item], _ others: [Item], known: [Int: Pair] = [:], names: [Int: Pair] = [:],
        agreement: Double = 0.02, outputDifference: Double = .infinity
    ) {
        (self.own, pairs) = (own, known)
        let isFolded = !own.contains { $0.operation == "batch_norm" }
        self.others = isFolded ? Self.markingFolded(others) : others
        (self.agreement, self.outputDifference) = (agreement, outputDifference)
        taken = Set(known.values.map(\.other))
        pairByValues()
        for (index, pair) in names.sorted(by: { $0.key < $1.key }) {
            guard pairs[index] == nil, !taken.contains(pair.other),
                isAlike(own[index], others[pair.other])
            else { continue }
            add(index, pair.other, pair.pairing)
        }
        pairByInputs()
    }

    /// Recorded activations, with those of convolutions marked that come before a normalization
    /// with fixed statistics.
    private static func markingFolded(_ items: [Item]) -> [Item] {
        var result = items
        for (index, next) in zip(items.indices, items.dropFirst()) {
            result[index].isFoldedAway =
                items[index].kind == .weighted && next.kind == .normalization(isFixed: true)
                && items[index].shape == next.shape
        }
        return result
    }

    private mutating func add(_ index: Int, _ other: Int, _ pairing: VerificationReport.Pairing) {
        pairs[index] = Pair(other: other, pairing: pairing)
        taken.insert(other)
    }
}

// MARK: By values

extension StructuralMatching {
    private mutating func pairByValues() {
        let sizes = Dictionary(grouping: open(own, except: Set(pairs.keys)), by: { own[$0].count })
        let theirs = Dictionary(grouping: open(others, except: taken), by: { others[$0].count })
        for (size, indices) in sizes {
            guard let candidates = theirs[size] else { continue }
            pairNearest(indices, candidates)
        }
    }

    private func open(_ items: [Item], except known: Set<Int>) -> [Int] {
        items.indices.filter { items[$0].signature != nil && !known.contains($0) }
    }

    /// Pairs items that are each other's nearest. Of several equal ones, as copies and reshaped
    /// values are, the first ones belong together.
    private mutating func pairNearest(_ indices: [Int], _ candidates: [Int]) {
        let distances = indices.map { index in
            candidates.map { distance(own[index], others[$0]) }
        }
        let forward = distances.map { nearest(among: candidates, at: $0) }
        let backward = Dictionary(
            uniqueKeysWithValues: candidates.enumerated().map { place, candidate in
                (candidate, nearest(among: indices, at: distances.map { $0[place] }))
            })
        for (index, found) in zip(indices, forward) {
            guard let found, let back = backward[found.index] ?? nil, pairs[index] == nil,
                !taken.contains(found.index), back.index == index || back.distance == 0,
                found.isClear || back.isClear
            else { continue }
            add(index, found.index, .values)
        }
    }

    /// The pairs of names whose items may be the same value: they are near enough, and no other
    /// item is much nearer. Those that were not computed may be the same.
    static func agreeing(_ named: [Int: Int], _ own: [Item], _ others: [Item]) -> [Int: Int] {
        let sizes = Dictionary(grouping: others.indices, by: { others[$0].count })
        return named.filter { index, other in
            guard let signature = own[index].signature, let theirs = others[other].signature
            else { return true }
            let distance = signature.distance(to: theirs)
            guard distance < closest else { return false }
            return distance < rounding
                || sizes[own[index].count, default: []].allSatisfy { candidate in
                    let found = others[candidate].signature?.distance(to: signature) ?? .infinity
                    return margin * found > distance
                }
        }
    }

    private struct Nearest {
        let index: Int
        let distance: Double
        /// Whether all other candidates are much farther away.
        let isClear: Bool
    }

    /// Among equal values, one of the same operation and shape is nearer.
    private func distance(_ item: Item, _ other: Item) -> Double {
        guard let signature = item.signature, let theirs = other.signature else {
            return .infinity
        }
        let isAlike = item.operation == other.operation && item.shape == other.shape
        let distance = signature.distance(to: theirs)
        // The values of two normalizations, for one, resemble each other.
        guard distance < agreement || item.mayBe(of: other) else { return .infinity }
        return distance + (isAlike ? 0 : 1e-6)
    }

    private func nearest(among candidates: [Int], at distances: [Double]) -> Nearest? {
        var best: (index: Int, distance: Double)?
        var second = Double.infinity
        for (candidate, distance) in zip(candidates, distances) {
            if distance < best?.distance ?? .infinity {
                second = best?.distance ?? .infinity
                best = (candidate, distance)
            } else {
                second = min(second, distance)
            }
        }
        guard let best, best.distance < Self.closest else { return nil }
        return Nearest(
            index: best.index, distance: best.distance,
            isClear: second > Self.margin * best.distance || best.distance < 1e-5)
    }
}

extension StructuralMatching.Item {
    fileprivate var count: Int { shape.count }

    /// The relative difference from a value; 0 if this one was not computed.
    func difference(from expected: ValueSignature) -> Double {
        signature.map { $0.distance(to: expected) } ?? 0
    }
}

// MARK: By structure

extension StructuralMatching {
    /// How many candidates are looked at for one value.
    private static let mostCandidates = 64

    /// Pairs items of one operation and shape that are computed from the same paired values, in
    /// order: after a fault, values no longer agree. Those that are computed from the network's
    /// inputs alone are paired if the outputs differ: otherwise they are right, in another form.
    private mutating func pairByInputs() {
        guard others.contains(where: { !$0.inputs.isEmpty }) else { return pairByOrder() }
        let isFaulty = outputDifference >= usualDifference(below: agreement)
        let byShape = Dictionary(grouping: others.indices, by: { others[$0].shape })
        for index in own.indices where pairs[index] == nil {
            let sources = Set(nearestPaired(to: index, in: own) { pairs[$0]?.other })
            guard !sources.isEmpty || isFaulty else { continue }
            let after = sources.max() ?? -1
            var left = Self.mostCandidates
            let found = (byShape[own[index].shape] ?? []).first { other in
                guard other > after, !taken.contains(other), left > 0,
                    isAlike(own[index], others[other])
                else { return false }
                left -= 1
                return Set(nearestPaired(to: other, in: others, ownIfTaken)) == sources
            }
            if let found { add(index, found, .structure) }
        }
    }

    /// Pairs items with recorded activations, which do not say what they are computed from, but are
    /// in the order in which modules ran: after a fault, values no longer agree.
    ///
    /// Those before a value that agrees are right; they are other forms, or what no module returns.
    private mutating func pairByOrder() {
        let limit = usualDifference(below: agreement)
        guard outputDifference >= limit, isInOrder else { return }
        let leadToAgreement = itemsBeforeAgreement(within: limit)
        let withoutBias = itemsBeforeBias
        for index in own.indices where pairs[index] == nil && !leadToAgreement[index] {
            guard !withoutBias.contains(index) else { continue }
            guard own[index].signature?.isZero == false else { continue }
            let sources = nearestPaired(to: index, in: own) { pairs[$0]?.other }
            let after = sources.max() ?? -1
            if let found = next(after: after, for: own[index]) { add(index, found, .structure) }
        }
    }

    /// The next activation that an item may be. Behind one that is computed later than the item,
    /// because it is of another kind, there is none.
    private func next(after last: Int, for item: Item) -> Int? {
        for other in others.indices.dropFirst(last + 1).prefix(Self.mostSkipped)
        where !taken.contains(other) && !others[other].isFoldedAway {
            if others[other].shape == item.shape, item.mayBe(of: others[other]) { return other }
            guard others[other].kind?.mayEnd(with: item.operation) ?? true else { return nil }
        }
        return nil
    }

    /// Convolutions and products to which a constant is added next: the sum is the module's.
    private var itemsBeforeBias: Set<Int> {
        var uses = [Int](repeating: 0, count: own.count)
        for input in own.flatMap(\.inputs) { uses[input] += 1 }
        let sums = own.filter { $0.operation == "add" && $0.inputs.count == 1 }
        return Set(
            sums.filter { sum in
                let input = own[sum.inputs[0]]
                return ModuleKind.isWeighted(input.operation) && uses[sum.inputs[0]] == 1
                    && input.shape == sum.shape
            }.map { $0.inputs[0] })
    }

    /// The difference below which values are right, by those before a fault: a half-precision model
    /// is often far more exact than it has to be.
    private func usualDifference(below limit: Double) -> Double {
        let found = pairs.map { difference(own[$0.key], others[$0.value.other]) }
            .filter { $0 < limit }.sorted()
        guard !found.isEmpty else { return limit }
        return min(max(Self.spread * found[found.count / 4], Self.leastAgreement), limit)
    }

    /// How many times as large as most differences others may be.
    private static let spread = 8.0

    /// How far the activation of a value may be behind those that it is computed from: all in
    /// between would be of branches.
    private static let mostSkipped = 12

    /// Whether the pairs are in the same order in both networks, but for few.
    private var isInOrder: Bool {
        let places = pairs.sorted { $0.key < $1.key }.map(\.value.other)
        let steps = zip(places, places.dropFirst())
        let risen = steps.count { $0 < $1 }
        return 10 * risen >= 9 * (places.count - 1)
    }

    /// Whether a value that agrees is computed from each item.
    private func itemsBeforeAgreement(within limit: Double) -> [Bool] {
        var result = [Bool](repeating: false, count: own.count)
        for index in own.indices.reversed() {
            let found = pairs[index].map { difference(own[index], others[$0.other]) }
            guard found ?? .infinity < limit || result[index] else { continue }
            for input in own[index].inputs { result[input] = true }
        }
        return result
    }

    private func difference(_ item: Item, _ other: Item) -> Double {
        guard let signature = item.signature, let theirs = other.signature else { return .infinity }
        return signature.distance(to: theirs)
    }

    private func ownIfTaken(_ other: Int) -> Int? { taken.contains(other) ? other : nil }

    private func isAlike(_ item: Item, _ other: Item) -> Bool {
        item.operation == other.operation || item.operation.isEmpty || other.operation.isEmpty
    }

    /// What the nearest paired items that an item is computed from are paired with.
    private func nearestPaired(
        to index: Int, in items: [Item], _ partner: (Int) -> Int?
    ) -> [Int] {
        var (open, seen, found) = (items[index].inputs, Set<Int>(), [Int]())
        while let next = open.popLast() {
            guard seen.insert(next).inserted else { continue }
            if let other = partner(next) {
                found.append(other)
            } else {
                open += items[next].inputs
            }
        }
        return found
    }
}

extension ModelProgram {
    /// The program's values with their elements on the first inputs.
    ///
    /// - Parameter count: the number of inputs at most.
    func items(on inputs: VerificationInputs, count: Int) throws -> [StructuralMatching.Item] {
        var signatures = [ValueSignature?](repeating: nil, count: values.count)
        for index in 0..<min(count, inputs.count) {
            let input = try inputs.input(index)
            var run = try verifying { try start(roundTripped(input.tensors)) }
            while let observed = run.next() {
                for value in observed {
                    let scalars = value.data.scalars
                    if signatures[value.index] == nil {
                        signatures[value.index] = ValueSignature(scalars)
                    } else {
                        signatures[value.index]?.add(scalars)
                    }
                }
            }
            _ = try run.finish()
        }
        return zip(zip(values, operations), signatures).map { pair, signature in
            StructuralMatching.Item(
                operation: pair.1, shape: pair.0.shape, inputs: pair.0.inputs,
                signature: signature)
        }
    }
}
