import RetintFloat64
import RetintGraph

/// Evaluates tensors in float64.
struct Float64Evaluator {
    private let feeds: Float64Feeds

    init(inputs: [String: [Double]] = [:], variables: [String: [Double]] = [:]) {
        feeds = Float64Feeds(input: { inputs[$0] }, variable: { variables[$0] })
    }

    /// The values of `tensors`, which belong to one graph.
    func evaluate(_ tensors: [Tensor]) throws -> [Float64Array] {
        guard let graph = tensors.first?.graph else { return [] }
        let wanted = Set(tensors.map(\.id))
        var (run, found) = (try Float64Run(graph, wanted, feeds), [Int: Float64Array]())
        while let (id, value) = try run.next() {
            if wanted.contains(id) { found[id] = value }
        }
        return tensors.compactMap { found[$0.id] }
    }

    func evaluate(_ tensor: Tensor) throws -> Float64Array { try evaluate([tensor])[0] }
}
