import RetintGraph
import RetintTensors

/// `Einsum`: sums of products of tensors whose axes have letters.
enum Einsums: OperationFamily {
    static let rules: [String: OperationRule] = [
        "Einsum": OperationRule { node in
            let tensors = try node.values().map(node.tensor)
            let equation = try EinsumEquation(node, ranks: tensors.map(\.shape.rank))
            var terms = zip(tensors, equation.operands).map(EinsumTerm.init)
            try EinsumTerm.check(terms, equation.output, node)
            while terms.count > 1 {
                let (first, second) = (terms.removeFirst(), terms.removeFirst())
                let needed = Set(equation.output).union(terms.flatMap(\.letters))
                terms.insert(try first.times(second, keeping: needed, node), at: 0)
            }
            let sum = terms[0].summed(keeping: Set(equation.output))
            return [.tensor(sum.ordered(equation.output), try node.value(0).type)]
        }
    ]
}

/// The letters of each operand's axes and of the result's.
private struct EinsumEquation {
    let operands: [[Character]]
    let output: [Character]

    /// The axes of "...", starting with the last.
    private static let ellipsis: [Character] = ["0", "1", "2", "3", "4", "5", "6", "7"]

    init(_ node: NodeContext, ranks: [Int]) throws {
        let text = try node.string("equation", default: "").filter { $0 != " " }
        let sides = text.split(separator: "->", omittingEmptySubsequences: false)
        let terms = sides[0].split(separator: ",", omittingEmptySubsequences: false).map(Array.init)
        guard text.utf8.count <= 256, sides.count <= 2, terms.count == ranks.count else {
            throw Self.error(text, node)
        }
        operands = try zip(terms, ranks).map { term, rank in
            try Self.letters(term, axes: rank, text, node)
        }
        if sides.count == 2 {
            let own = Array(sides[1]).filter { $0 != "." }.count
            let added = operands.flatMap { $0 }.filter(Self.ellipsis.contains)
            output = try Self.letters(
                Array(sides[1]), axes: own + (sides[1].contains(".") ? Set(added).count : 0), text,
                node)
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
        _ term: [Character], axes: Int, _ text: String, _ node: NodeContext
    ) throws -> [Character] {
        let own = term.filter { $0 != "." }
        let hidden = axes - own.count
        guard own.allSatisfy({ $0.isASCII && $0.isLetter }), Set(own).count == own.count else {
            throw error(text, node)
        }
        guard let start = term.firstIndex(of: ".") else {
            guard hidden == 0 else { throw error(text, node) }
            return own
        }
        guard term.count == own.count + 3, term[start...].prefix(3) == [".", ".", "."],
            (0...ellipsis.count).contains(hidden)
        else { throw error(text, node) }
        return own[..<start] + ellipsis.prefix(hidden).reversed() + own[start...]
    }

    private static func error(_ text: String, _ node: NodeContext) -> ONNXError {
        node.error("the equation \(text.quoted) is not supported with these inputs")
    }
}

/// A tensor whose axes have unique letters.
private struct EinsumTerm {
    let tensor: Tensor
    let letters: [Character]

    /// Checks that all axes of one letter have one extent, and that the result's letters are known.
    static func check(
        _ terms: [EinsumTerm], _ output: [Character], _ node: NodeContext
    ) throws {
        var extents: [Character: Int] = [:]
        for term in terms {
            for (letter, extent) in zip(term.letters, term.tensor.shape.dimensions) {
                guard extents[letter, default: extent] == extent else {
                    throw node.error(
                        "an axis has the extents \(extents[letter, default: 0]) and \(extent)")
                }
                extents[letter] = extent
            }
        }
        guard output.allSatisfy({ extents[$0] != nil }) else {
            throw node.error("a letter of its result has no extent", ONNXError.damaged)
        }
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
        _ other: EinsumTerm, keeping kept: Set<Character>, _ node: NodeContext
    ) throws -> EinsumTerm {
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
        _ = try node.count(shape)
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
