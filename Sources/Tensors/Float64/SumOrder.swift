/// The order in which a device adds the terms of a sum.
public enum SumOrder: Hashable, Sendable {
    /// From the first to the last.
    case sequential
    /// From the last to the first.
    case reversed
    /// Terms with even and with odd numbers by themselves, as two registers do.
    case interleaved
    /// Halves of halves, down to single terms.
    case pairwise
    /// Blocks of this many terms, then their sums one after another.
    case blocks(Int)

    /// The allowed lengths of blocks.
    public static let blockRange = 2...65_536
}

extension SumOrder: LosslessStringConvertible {
    /// `sequential`, `reversed`, `interleaved`, `pairwise` or `blocks:32`.
    public var description: String {
        switch self {
        case .sequential: "sequential"
        case .reversed: "reversed"
        case .interleaved: "interleaved"
        case .pairwise: "pairwise"
        case .blocks(let length): "blocks:\(length)"
        }
    }

    /// Reads a description; nil if it is not one.
    public init?(_ description: String) {
        let known: [SumOrder] = [.sequential, .reversed, .interleaved, .pairwise]
        if let order = known.first(where: { $0.description == description }) {
            self = order
            return
        }
        let parts = description.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "blocks", let length = Int(parts[1]),
            Self.blockRange.contains(length)
        else { return nil }
        self = .blocks(length)
    }
}

/// An order of sums as steps on a few partial sums: the only place that knows what an order means.
/// The same plan adds numbers, and rows of numbers of many sums at once.
struct SumPlan: Sendable {
    enum Step: Sendable {
        /// A partial sum begins with a term.
        case start(term: Int, at: Int)
        case add(term: Int, to: Int)
        case merge(Int, into: Int)
    }

    private(set) var steps: [Step] = []
    /// The number of partial sums; the first one ends as the whole sum.
    private(set) var width = 1
    let termCount: Int

    init(_ order: SumOrder, count: Int) {
        termCount = count
        guard count > 0 else { return }
        steps.reserveCapacity(count)
        switch order {
        case .sequential: add(Array(0..<count), at: 0)
        case .reversed: add((0..<count).reversed(), at: 0)
        case .interleaved:
            add(Array(stride(from: 0, to: count, by: 2)), at: 0)
            guard count > 1 else { return }
            add(Array(stride(from: 1, to: count, by: 2)), at: 1)
            steps.append(.merge(1, into: 0))
        case .pairwise: addHalves(0..<count, at: 0)
        case .blocks(let length):
            for start in stride(from: 0, to: count, by: length) {
                let isFirst = start == 0
                add(Array(start..<min(start + length, count)), at: isFirst ? 0 : 1)
                if !isFirst { steps.append(.merge(1, into: 0)) }
            }
        }
    }

    private mutating func add(_ terms: [Int], at place: Int) {
        width = max(width, place + 1)
        for (index, term) in terms.enumerated() {
            steps.append(index == 0 ? .start(term: term, at: place) : .add(term: term, to: place))
        }
    }

    private mutating func addHalves(_ terms: Range<Int>, at place: Int) {
        guard terms.count > 2 else { return add(Array(terms), at: place) }
        let middle = (terms.lowerBound + terms.upperBound) / 2
        addHalves(terms.lowerBound..<middle, at: place)
        addHalves(middle..<terms.upperBound, at: place + 1)
        steps.append(.merge(place + 1, into: place))
    }
}

extension SumPlan {
    /// Adds numbers.
    ///
    /// - Parameters:
    ///   - term: the number at an index.
    ///   - add: adds two numbers, and rounds.
    func sum(_ term: (Int) -> Double, _ add: (Double, Double) -> Double) -> Double {
        var sums = [Double](repeating: 0, count: width)
        for step in steps {
            switch step {
            case .start(let index, let place): sums[place] = term(index)
            case .add(let index, let place): sums[place] = add(sums[place], term(index))
            case .merge(let from, let place): sums[place] = add(sums[place], sums[from])
            }
        }
        return sums[0]
    }
}
