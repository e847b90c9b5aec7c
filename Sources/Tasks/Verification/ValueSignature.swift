import RetintTensors

/// Some elements of a value, always at the same positions for the same number of elements: values
/// of two networks that agree in these are the same value.
struct ValueSignature {
    /// How many elements are taken at most.
    static let length = 512

    let count: Int
    private(set) var elements: [Float] = []
    private var squares = 0.0

    /// - Parameter scalars: in row-major order.
    init(_ scalars: [Float]) {
        count = scalars.count
        add(scalars)
    }

    /// Adds the elements of another run.
    mutating func add(_ scalars: [Float]) {
        guard count > Self.length else { return append(scalars) }
        // Multiples of an odd number, modulo the count, are spread over all rows and channels.
        append((0..<Self.length).map { scalars[(($0 + 1) &* 0x9E37_79B1) % count] })
    }

    private mutating func append(_ part: [Float]) {
        elements += part
        squares += part.reduce(0) { $0 + Double($1) * Double($1) }
    }

    /// Whether all elements are zero, which says nothing about the value.
    var isZero: Bool { squares == 0 }

    /// The root mean square difference relative to the larger of the two; infinite if one is not
    /// finite, both are zero, or they cannot be compared.
    func distance(to other: ValueSignature) -> Double {
        guard elements.count == other.elements.count else { return .infinity }
        var difference = 0.0
        for index in elements.indices {
            let error = Double(elements[index]) - Double(other.elements[index])
            difference += error * error
        }
        let scale = max(squares, other.squares)
        guard difference.isFinite, scale.isFinite else { return .infinity }
        return scale == 0 ? .infinity : (difference / scale).squareRoot()
    }
}
