import RetintFloat64
import RetintGraph
import RetintTensors

/// Bounds on all values of a graph for all inputs within their ranges.
struct BoundAnalysis {
    /// What cannot be shown of a node.
    struct Gap {
        /// The node.
        let id: Int
        let reason: String
        /// Whether the value may be too large for float16.
        let isOverflow: Bool
    }

    private(set) var bounds: [Int: BoundArray] = [:]
    private(set) var gaps: [Gap] = []
    private let graph: Graph
    private let constants: [Int: ConstantValue]
    private var forms = LinearForms()

    /// - Parameters:
    ///   - variables: the values of the graph's variables.
    ///   - roots: the nodes whose bounds are wanted.
    ///   - ranges: the ranges of inputs by name, for each channel or for all.
    /// - Throws: `Float64Error` if a constant cannot be computed.
    init(
        _ graph: Graph, variables: [String: any TensorSource], roots: [Int],
        ranges: [String: [Interval]]
    ) throws {
        self.graph = graph
        let live = graph.live(from: roots)
        var varies = [Bool](repeating: false, count: graph.nodes.count)
        for id in live {
            let node = graph.nodes[id]
            varies[id] = node.operation is Input || node.inputs.contains { varies[$0] }
        }
        let used = Set(live.filter { varies[$0] }.flatMap { graph.nodes[$0].inputs } + roots)
        constants = try Self.constants(of: graph, variables, used.filter { !varies[$0] })
        var uses: [Int: Int] = [:]
        for input in live.lazy.flatMap({ graph.nodes[$0].inputs }) {
            uses[input, default: 0] += 1
        }
        let wanted = Set(roots)
        for id in live where varies[id] {
            let node = graph.nodes[id]
            bounds[id] = bound(of: id, node, ranges)
            for input in node.inputs {
                uses[input, default: 0] -= 1
                if uses[input] == 0, !wanted.contains(input) { bounds[input] = nil }
            }
        }
    }

    /// A node that is the same for all inputs.
    private struct ConstantValue {
        let exact: Float64Array
        let computed: Float64Array

        /// The numbers, unless rounding changes them.
        var numbers: [Double]? { exact.values == computed.values ? exact.values : nil }

        var array: BoundArray {
            let shape = exact.shape.dimensions
            if let numbers, numbers.count <= BoundArray.mostElements {
                return BoundArray(shape: shape, numbers: numbers)
            }
            let bounds = zip(exact.values, computed.values).map { exact, computed in
                Bound(
                    exact: Interval(exact), computed: Interval(computed),
                    error: abs(exact - computed).nextUp)
            }
            guard bounds.count > BoundArray.mostElements else {
                return BoundArray(shape: shape, extents: shape, elements: bounds)
            }
            return BoundArray(
                shape: shape, bounds.dropFirst().reduce(bounds[0]) { $0.hull($1) })
        }
    }

    /// Nodes that are the same for all inputs, in float64, with the
    /// roundings to half precision and without.
    private static func constants(
        of graph: Graph, _ variables: [String: any TensorSource], _ used: Set<Int>
    ) throws -> [Int: ConstantValue] {
        guard !used.isEmpty else { return [:] }
        let exact = try values(of: graph, variables, used, ArithmeticRules(threads: 1) { _ in nil })
        let computed = try values(of: graph, variables, used, nil)
        return exact.reduce(into: [:]) { found, pair in
            guard let other = computed[pair.key] else { return }
            found[pair.key] = ConstantValue(exact: pair.value, computed: other)
        }
    }

    private static func values(
        of graph: Graph, _ variables: [String: any TensorSource], _ used: Set<Int>,
        _ rules: ArithmeticRules?
    ) throws -> [Int: Float64Array] {
        var run = try Float64Run(
            graph, used.sorted(),
            Float64Feeds(
                input: { _ in nil },
                variable: { try variables[$0]?.tensorData().scalars.map(Double.init) }),
            rules)
        var found: [Int: Float64Array] = [:]
        while let (id, value) = try run.next() {
            if used.contains(id) { found[id] = value }
        }
        return found
    }

    private mutating func bound(
        of id: Int, _ node: Graph.Node, _ ranges: [String: [Interval]]
    ) -> BoundArray {
        if let input = node.operation as? Input {
            return Self.input(node.shape.dimensions, ranges[input.inputName] ?? [.everything])
        }
        let operands = node.inputs.map(operand)
        let numbers = node.inputs.map { constants[$0]?.numbers }
        var rules = BoundRules(node, operands, constants: numbers)
        guard let found = rules.result() else {
            gaps.append(
                Gap(
                    id: id, reason: "there are no bounds for \(node.operation.name) here",
                    isOverflow: false))
            return BoundArray(shape: node.shape.dimensions, .unknown)
        }
        if let hazard = rules.hazard {
            gaps.append(Gap(id: id, reason: hazard, isOverflow: false))
        }
        if node.operation is RoundToHalf { checkRange(id, operands[0]) }
        return forms.improved(id, node, operands, constants: numbers, found)
    }

    private mutating func checkRange(_ id: Int, _ operand: BoundArray) {
        guard operand.elements.contains(where: \.mayOverflowHalf) else { return }
        let size = operand.elements.map(\.computed.magnitude).max() ?? .infinity
        let text = size.isFinite ? "may be \(figure(size, 65_504)) in magnitude" : "has no bound"
        gaps.append(Gap(id: id, reason: "\(text); float16 ends at 65504", isOverflow: true))
    }

    private func operand(_ id: Int) -> BoundArray {
        constants[id]?.array ?? bounds[id]
            ?? BoundArray(shape: graph.nodes[id].shape.dimensions, .unknown)
    }

    /// - Parameter ranges: for each channel, or for all.
    private static func input(_ shape: [Int], _ ranges: [Interval]) -> BoundArray {
        let bounds = ranges.map { Bound(exact: $0, computed: $0, error: 0) }
        guard bounds.count > 1, shape.count > 1, shape[1] == bounds.count else {
            return BoundArray(
                shape: shape, bounds.dropFirst().reduce(bounds[0]) { $0.hull($1) })
        }
        var extents = [Int](repeating: 1, count: shape.count)
        extents[1] = bounds.count
        return BoundArray(shape: shape, extents: extents, elements: bounds)
    }

    /// The bounds of a node's value; those of a constant are points.
    func bounds(of id: Int) -> BoundArray { operand(id) }
}
