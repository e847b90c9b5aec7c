import RetintTensors

/// What is known about an element of a value, for all inputs.
struct Bound: Hashable, Sendable {
    /// The number in exact arithmetic.
    var exact: Interval
    /// The number as it is computed.
    var computed: Interval
    /// The largest difference between the two.
    var error: Double

    static let unknown = Bound(exact: .everything, computed: .everything, error: .infinity)

    init(exact: Interval, computed: Interval, error: Double) {
        (self.exact, self.computed) = (exact, computed)
        self.error = error.isNaN ? .infinity : error
    }

    /// A number that is computed without an error.
    init(_ number: Double) {
        self.init(exact: Interval(number), computed: Interval(number), error: 0)
    }

    /// Both the exact numbers and those that are computed.
    var both: Interval { exact.hull(computed) }

    func hull(_ other: Bound) -> Bound {
        Bound(
            exact: exact.hull(other.exact), computed: computed.hull(other.computed),
            error: max(error, other.error))
    }

    /// The same facts, each improved by the others.
    var tightened: Bound {
        let apart = max(computed.upper - exact.lower, exact.upper - computed.lower).nextUp
        let error = min(error, max(0, apart))
        return Bound(
            exact: exact.intersection(computed.widened(by: error)),
            computed: computed.intersection(exact.widened(by: error)), error: error)
    }
}

/// Bounds on the elements of a value: along an axis either for each index, or one for all of them.
/// The bounds of a network's channels are the same at all pixels.
struct BoundArray: Sendable {
    /// The shape of the value.
    let shape: [Int]
    /// For each axis its extent, or 1 if its elements share their bounds.
    let extents: [Int]
    /// Row-major by extents.
    var elements: [Bound]
    /// What is known of the sums along an axis; nil if nothing is.
    var shares: Shares?

    /// Elements that are not negative, and whose sum along an axis is 1, as those of a softmax.
    struct Shares: Hashable, Sendable {
        let axis: Int
        /// The largest difference from 1 of the sum of computed numbers.
        var error: Double
    }

    /// More bounds than these are joined.
    static let mostElements = 1 << 21

    init(shape: [Int], extents: [Int], elements: [Bound]) {
        (self.shape, self.extents, self.elements) = (shape, extents, elements)
    }

    /// All elements share a bound.
    init(shape: [Int], _ bound: Bound) {
        self.init(
            shape: shape, extents: [Int](repeating: 1, count: shape.count), elements: [bound])
    }

    /// Numbers that are computed without an error.
    init(shape: [Int], numbers: [Double]) {
        guard let first = numbers.first, numbers.allSatisfy({ $0 == first }) else {
            self.init(shape: shape, extents: shape, elements: numbers.map { Bound($0) })
            return
        }
        self.init(shape: shape, Bound(first))
    }

    var hull: Bound { elements.dropFirst().reduce(elements[0]) { $0.hull($1) } }

    func map(_ change: (Bound) -> Bound) -> BoundArray {
        BoundArray(shape: shape, extents: extents, elements: elements.map(change))
    }

    /// Elements apart along an axis share their bounds in none of these steps: 0 where they do.
    var strides: [Int] {
        let steps = Shape(extents).strides
        return zip(extents, steps).map { $0 == 1 ? 0 : $1 }
    }

    /// The index in ``elements`` for each place of larger extents, row-major; axes are aligned at
    /// the end.
    func places(in larger: [Int]) -> [Int] {
        let added = [Int](repeating: 0, count: larger.count - extents.count)
        var places = [0]
        for (extent, step) in zip(larger, added + strides) {
            places = places.flatMap { base in (0..<extent).map { base + $0 * step } }
        }
        return places
    }

    /// The same bounds with more of them apart.
    func expanded(to larger: [Int]) -> BoundArray {
        guard larger != extents else { return self }
        return BoundArray(
            shape: shape, extents: larger, elements: places(in: larger).map { elements[$0] })
    }

    /// One bound for all elements along some axes.
    func joined(along axes: some Sequence<Int>) -> BoundArray {
        let axes = Set(axes)
        let smaller = extents.enumerated().map { axes.contains($0.offset) ? 1 : $0.element }
        guard smaller != extents else { return self }
        let steps = BoundArray(shape: shape, extents: smaller, elements: []).places(in: extents)
        var joined = [Bound?](repeating: nil, count: Shape(smaller).count)
        for (place, bound) in zip(steps, elements) {
            joined[place] = joined[place].map { $0.hull(bound) } ?? bound
        }
        return BoundArray(shape: shape, extents: smaller, elements: joined.compactMap { $0 })
    }

    /// The bounds of images' channels: one for all pixels and images.
    var perChannel: BoundArray { joined(along: [0] + Array(shape.indices.dropFirst(2))) }

    /// The bound of a channel of ``perChannel``.
    func channel(_ index: Int) -> Bound { elements[elements.count == 1 ? 0 : index] }
}
