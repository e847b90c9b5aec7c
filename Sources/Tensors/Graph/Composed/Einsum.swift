package import RetintTensors

/// Sums of products of tensors whose axes have letters (`torch.einsum`).
///
/// - Throws: ``ShapeError`` for an equation that does not fit the tensors, or that repeats a letter
///   within one of them.
package func einsum(_ equation: String, _ tensors: [Tensor]) throws(ShapeError) -> Tensor {
    let letters = try EinsumEquation(equation, ranks: tensors.map(\.shape.rank))
    var terms = zip(tensors, letters.operands).map(EinsumTerm.init)
    try EinsumTerm.check(terms, letters.output)
    while terms.count > 1 {
        let (first, second) = (terms.removeFirst(), terms.removeFirst())
        let needed = Set(letters.output).union(terms.flatMap(\.letters))
        terms.insert(try first.times(second, keeping: needed), at: 0)
    }
    return terms[0].summed(keeping: Set(letters.output)).ordered(letters.output)
}

/// The letters of each operand's axes and of the result's.
private struct EinsumEquation {
    let operands: [[Character]]
    let output: [Character]

    /// The axes of "...", starting with the last.
    private static let ellipsis: [Character] = ["0", "1", "2", "3", "4", "5", "6", "7"]

    init(_ equation: String, ranks: [Int]) throws(ShapeError) {
        let text = equation.filter { $0 != " " }
        let sides = text.split(separator: "->", omittingEmptySubsequences: false)
        let terms = sides[0].split(separator: ",", omittingEmptySubsequences: false).map(Array.init)
        guard text.utf8.count <= 256, sides.count <= 2, terms.count == ranks.count else {
            throw Self.error(text)
        }
        var operands: [[Character]] = []
        for (term, rank) in zip(terms, ranks) {
            operands.append(try Self.letters(term, axes: rank, text))
        }
        self.operands = operands
        if sides.count == 2 {
            let own = Array(sides[1]).filter { $0 != "." }.count
            let added = operands.flatMap { $0 }.filter(Self.ellipsis.contains)
            output = try Self.letters(
                Array(sides[1]), axes: own + (sides[1].contains(".") ? Set(added).count : 0), text)
        } else {
            let all = operands.flatMap { $0 }
            let once = Set(all).filter { letter in
                Self.ellipsis.contains(letter) || all.count { $0 == letter } == 1
            }
            let broadcast = Self.ellipsis.reversed().filter(once.contains)
            output = broadcast + once.subtracting(Self.ellipsis).sorted()
        }
    }

    /// One letter for each axis; the axes of "..." are counted from the last.
    private static func letters(
        _ term: [Character], axes: Int, _ text: String
    ) throws(ShapeError) -> [Character] {
        let own = term.filter { $0 != "." }
        let hidden = axes - own.count
        guard own.allSatisfy({ $0.isASCII && $0.isLetter }), Set(own).count == own.count else {
            throw error(text)
        }
        guard let start = term.firstIndex(of: ".") else {
            guard hidden == 0 else { throw error(text) }
            return own
        }
        guard term.count == own.count + 3, term[start...].prefix(3) == [".", ".", "."],
            (0...ellipsis.count).contains(hidden)
        else { throw error(text) }
        return own[..<start] + ellipsis.prefix(hidden).reversed() + own[start...]
    }

    private static func error(_ text: String) -> ShapeError {
        ShapeError(
            "the equation \(text.prefix(64).debugDescription) is not supported with these inputs")
    }
}

/// A tensor whose axes have unique letters.
private struct EinsumTerm {
    let tensor: Tensor
    let letters: [Character]

    /// Checks that all axes of one letter have one extent, and that the result's letters are known.
    static func check(_ terms: [EinsumTerm], _ output: [Character]) throws(ShapeError) {
        var extents: [Character: Int] = [:]
        for term in terms {
            for (letter, extent) in zip(term.letters, term.tensor.shape.dimensions) {
                let known = extents[letter, default: extent]
                try require(known == extent, "an axis has the extents \(known) and \(extent)")
                extents[letter] = extent
            }
        }
        try require(
            output.allSatisfy { extents[$0] != nil }, "a letter of its result has no extent")
    }

    /// The sum over all axes but `kept`.
    func summed(keeping kept: Set<Character>) -> EinsumTerm {
        let axes = letters.indices.filter { !kept.contains(letters[$0]) }
        guard !axes.isEmpty else { return self }
        return EinsumTerm(
            tensor: tensor.sum(axes: axes, keepDims: false), letters: letters.filter(kept.contains))
    }

    func ordered(_ order: [Character]) -> Tensor {
        guard order != letters else { return tensor }
        return tensor.transposed(order.compactMap { letters.firstIndex(of: $0) })
    }

    /// The product of two terms, summed over the axes that are not kept: a product of matrices, or
    /// of elements if nothing that both have is summed.
    func times(
        _ other: EinsumTerm, keeping kept: Set<Character>
    ) throws(ShapeError) -> EinsumTerm {
        let (mine, others) = (Set(letters), Set(other.letters))
        let (a, b) = (
            summed(keeping: kept.union(others)), other.summed(keeping: kept.union(mine))
        )
        let batch = a.letters.filter { others.contains($0) && kept.contains($0) }
        let inner = a.letters.filter { others.contains($0) && !kept.contains($0) }
        let left = a.letters.filter { !others.contains($0) }
        let right = b.letters.filter { !mine.contains($0) }
        let extents = Dictionary(
            zip(letters + other.letters, tensor.shape.dimensions + other.tensor.shape.dimensions)
        ) { first, _ in first }
        func sizes(_ letters: [Character]) -> [Int] { letters.map { extents[$0, default: 1] } }
        let result = batch + left + right
        let shape = sizes(result)
        try Shape(shape).validate()
        let (x, y) = (a.ordered(batch + left + inner), b.ordered(batch + inner + right))
        if inner.isEmpty {
            let ones = [Int](repeating: 1, count: left.count)
            let spread = x.reshaped(Shape(sizes(batch + left) + right.map { _ in 1 }))
            return EinsumTerm(
                tensor: spread * y.reshaped(Shape(sizes(batch) + ones + sizes(right))),
                letters: result)
        }
        func size(_ letters: [Character]) -> Int { sizes(letters).reduce(1, *) }
        let product = matmul(
            x.reshaped([size(batch), size(left), size(inner)]),
            y.reshaped([size(batch), size(inner), size(right)]))
        return EinsumTerm(tensor: product.reshaped(Shape(shape)), letters: result)
    }
}
