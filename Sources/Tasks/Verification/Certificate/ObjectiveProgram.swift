import RetintEngine
import RetintGraph
import RetintRuntime
import RetintTensors

/// A value of a model with its gradient with respect to the inputs.
struct ObjectiveProgram {
    private let program: Program
    private let graph: ModelGraph
    private let names: [String]
    let shape: Shape

    private static let (mask, target) = ("retint.mask", "retint.value")

    /// - Parameter id: the node of the value.
    /// - Throws: `GraphError` if an operation has no gradient.
    init(_ graph: ModelGraph, value id: Int) throws {
        let value = Tensor(graph: graph.graph, id: id)
        (self.graph, shape) = (graph, value.shape)
        names = graph.inputs.map(\.name)
        let inputs = graph.inputs.map { graph.graph.input($0.name, $0.shape) }
        let mask = graph.graph.input(Self.mask, value.shape)
        let slopes = try gradients(of: (value * mask).sum(), withRespectTo: inputs)
        let outputs = zip(names, slopes).map { (name: "retint.slope." + $0, value: $1) }
        program = try Program(
            outputs: [(Self.target, value)] + outputs,
            options: graph.model.execution.compileOptions)
        try program.load(graph.variables)
    }

    /// - Parameter mask: the weights of the elements in the sum whose gradient is returned.
    func run(
        _ inputs: [NamedTensor], mask: [Float]
    ) throws -> (values: [Float], gradients: [[Float]]) {
        var feeds = Dictionary(inputs.map { ($0.name, scaled($0.data)) }) { first, _ in first }
        feeds[Self.mask] = TensorData(shape: shape, scalars: mask)
        let results = try program.run(feeds)
        let slopes = names.map { results["retint.slope." + $0]?.scalars ?? [] }
        return (results[Self.target]?.scalars ?? [], slopes)
    }

    private func scaled(_ data: TensorData) -> TensorData {
        let factor = graph.lightnessScale
        guard factor != 1 else { return data }
        return TensorData(shape: data.shape, scalars: data.scalars.map { $0 * factor })
    }
}

/// Weights of a value's elements, of which one counts.
struct ElementMask {
    private(set) var weights: [Float]
    private var place = 0

    init(count: Int) { weights = [Float](repeating: 0, count: count) }

    /// Has one element count, with its sign.
    ///
    /// - Returns: whether that is a change.
    mutating func choose(_ place: Int, _ value: Float) -> Bool {
        let weight: Float = value < 0 ? -1 : 1
        guard weights[place] != weight else { return false }
        weights[self.place] = 0
        weights[place] = weight
        self.place = place
        return true
    }
}

/// Climbs along gradients to a point where something is as large as possible.
struct GradientAscent {
    /// What is measured at a point: its size, and directions in which it may grow.
    typealias Measurement = (size: Float, directions: [[[Float]]])

    let space: SearchSpace
    let seed: UInt64
    /// The points that are tried from each start, and the starts.
    static let (steps, starts) = (60, 7)
    private(set) var tried = 0

    init(_ space: SearchSpace, seed: UInt64) { (self.space, self.seed) = (space, seed) }

    /// The best point, and its size.
    ///
    /// - Parameter isEnough: whether a size is so large that the search may end.
    mutating func best(
        until isEnough: (Float) -> Bool = { _ in false },
        _ measure: (SearchPoint) throws -> Measurement
    ) throws -> (point: SearchPoint, size: Float)? {
        var best: (point: SearchPoint, size: Float)?
        for start in 0..<Self.starts {
            let found = try climb(from: space.start(start, seed: seed), isEnough, measure)
            if found.size > best?.size ?? -.infinity { best = found }
            if isEnough(found.size) { return found }
        }
        return best
    }

    private mutating func climb(
        from start: SearchPoint, _ isEnough: (Float) -> Bool,
        _ measure: (SearchPoint) throws -> Measurement
    ) throws -> (point: SearchPoint, size: Float) {
        var random = RandomStream(seed: seed, name: "climb \(tried)")
        var (point, measured) = (start, try measure(start))
        var step: Float = 0.5
        tried += 1
        for number in 0..<Self.steps {
            if isEnough(measured.size) { break }
            let isBlind = measured.directions.isEmpty || number % 2 == 1
            let next =
                isBlind
                ? space.perturbed(point, by: step, &random)
                : space.step(
                    point, along: measured.directions[number / 2 % measured.directions.count],
                    by: step)
            let found = try measure(next)
            tried += 1
            if found.size > measured.size || found.size.isNaN {
                (point, measured) = (next, found)
            } else if number % 4 == 3 {
                step = max(step * 0.7, 1 / 255)
            }
        }
        return (point, measured.size)
    }
}
