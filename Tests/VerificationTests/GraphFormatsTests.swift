import RetintExport
import RetintFloat64
import RetintGraph
import RetintTensors
import Testing

@testable import RetintRuntime

/// Which nodes of a graph are results, and of which format.
@Suite struct GraphFormatsTests {
    private static let pico = Network(network: .named("pico-unet", .init(width: 0.25)))
    private let arithmetic = DeviceArithmetic()

    /// In a package, an operation rounds its result; what comes before that is a step.
    @Test func packagesRoundTheirResults() throws {
        let model = Model(try Self.pico.package(.float16))
        let graph = try model.graph(compute: .float16, folds: false)
        let formats = GraphFormats(graph, allHalf: false)
        for (index, value) in graph.values.enumerated() {
            let node = graph.graph.nodes[value.tensor.id]
            let own = try #require(formats.node(value.tensor.id, in: arithmetic))
            #expect(own.isResult && own.isHalf == (node.operation is RoundToHalf))
            #expect(formats.node(value.tensor.id, in: arithmetic, onlyOf: index) != nil)
            #expect(formats.node(value.tensor.id, in: arithmetic, onlyOf: index + 1) == nil)
            guard node.operation is RoundToHalf,
                !graph.values.contains(where: { $0.tensor.id == node.inputs[0] })
            else { continue }
            let step = try #require(formats.node(node.inputs[0], in: arithmetic))
            #expect(!step.isResult && step.isHalf)
            #expect(formats.node(node.inputs[0], in: arithmetic, onlyOf: index) != nil)
        }
    }

    /// A checkpoint does not round; its weights and inputs are whole values, its constants steps.
    @Test(arguments: [false, true]) func checkpointsHaveOneFormat(_ isHalf: Bool) throws {
        let graph = try Self.pico.model().graph(folds: false)
        let formats = GraphFormats(graph, allHalf: isHalf)
        var kinds: Set<String> = []
        for id in graph.graph.live(from: graph.outputs.map(\.value.id)) {
            guard let node = formats.node(id, in: arithmetic) else { continue }
            let operation = graph.graph.nodes[id].operation
            #expect(node.isHalf == isHalf)
            #expect(node.isResult == !(operation is Constant))
            kinds.insert(operation.name)
        }
        #expect(kinds.isSuperset(of: ["conv2d", "variable", "input"]), "\(kinds)")
    }

    /// The indices of an operation that picks are not rounded.
    @Test func indicesHaveNoFormat() throws {
        let network = SmallNetwork(
            precision: .float16, shape: [1, 64], input: scattered(64, 0...1)
        ) { x in gather(x * 2, axis: 1, indices: topIndices(x, 4, axis: 1)) }
        let graph = try network.model().graph(compute: .float16)
        let formats = GraphFormats(graph, allHalf: false)
        for node in graph.graph.nodes where node.takesIndices(at: 1) {
            let indices = node.inputs[1]
            #expect(formats.node(indices, in: arithmetic)?.isHalf != true)
        }
        #expect(graph.graph.nodes.contains { $0.takesIndices(at: 1) })
        #expect(try network.survey().outputs[0].nonFinite == 0)
    }
}
