import RetintGraph
import RetintLayers
import Testing

@testable import RetintArchitectures

@Suite struct StateDictTests {
    @Test(arguments: colorizerNames)
    func namesShapesAndCountAreThoseOfPyTorch(_ name: String) throws {
        let golden = try #require(try Golden.load().networks[name])
        let spec = StateSpec(of: try NetworkDescription.named(name).make())
        #expect(spec.entries.map(\.name) == golden.names)
        #expect(spec.entries.map(\.shape.dimensions) == golden.shapes)
        #expect(spec.parameterCount == golden.parameters)
    }

    @Test func publishedNetworksHaveTheirPublishedSizes() {
        let bare = ColorizerOptions(hasClassHead: false)
        #expect(StateSpec(of: ECCV16()).parameterCount == 32_236_011)
        #expect(StateSpec(of: SIGGRAPH17()).parameterCount == 34_187_027)
        #expect(StateSpec(of: SIGGRAPH17(options: bare)).parameterCount == 34_051_074)
    }

    @Test func countersAreListedAndAreNoTensors() {
        let spec = StateSpec(of: BatchNorm2d(4))
        #expect(
            spec.entries.map(\.name) == [
                "weight", "bias", "running_mean", "running_var", "num_batches_tracked",
            ])
        #expect(
            spec.entries.map(\.kind) == [.parameter, .parameter, .buffer, .buffer, .counter])
        #expect(spec.initialValues(seed: 0).keys.sorted() == spec.tensors.map(\.name).sorted())
    }

    @Test func networksAddOnlyVariablesThatTheirStateDictLists() throws {
        for name in colorizerNames {
            let network = try NetworkDescription.named(name).make()
            let graph = Graph(mode: .training)
            _ = network(graph.input("lightness", [2, 1, 64, 64]))
            try graph.validate()
            let known = Set(StateSpec(of: network).tensors.map(\.name))
            let used = Set(graph.variables(.parameter, .buffer).map(\.variableName))
            let unused = known.subtracting(used)
            #expect(used.isSubset(of: known))
            #expect(unused.allSatisfy { $0.hasPrefix("model_class.") })
        }
    }
}

/// A module with everything that a property can be.
private final class Various: Module {
    let child = Conv2d(1, 1, kernel: 1, bias: false)
    let ownScale = Parameter([1], initializer: .ones)
    let nothing: Module? = nil
    let maybe: Module? = Linear(2, 1)
    let blocks: [any Layer] = [ReLU(), Linear(1, 1, bias: false)]
    let several: [Parameter] = [Parameter([2], initializer: .zeros)]
    let number = 3
    lazy var later = Parameter([5], initializer: .ones)
    private let _hidden = BatchNorm2d(1)
    let offset = Parameter([1], role: .buffer, initializer: .zeros)
}

@Suite struct ModuleTests {
    @Test func childrenAreFoundInPyTorchsOrder() {
        let various = Various()
        _ = various.later
        #expect(
            StateSpec(of: various).entries.map(\.name) == [
                "own_scale", "several.0", "later", "offset", "child.weight", "maybe.weight",
                "maybe.bias", "blocks.1.weight", "hidden.weight", "hidden.bias",
                "hidden.running_mean", "hidden.running_var", "hidden.num_batches_tracked",
            ])
    }

    @Test func errorsCarryTheModulesPath() throws {
        let inner = Sequential(Conv2d(3, 4, kernel: 3), ReLU(), Conv2d(5, 2, kernel: 1))
        let network = Sequential(Identity(), inner)
        network.assignNames()
        let graph = Graph()
        _ = network(graph.input("x", [1, 3, 8, 8]))
        let error = try #require(graph.error)
        #expect(error.module == "1.2")
        #expect(error.operation == "conv2d")
        #expect(throws: GraphError.self) { try graph.validate() }
    }

    @Test func unnamedParametersAreRefused() throws {
        let graph = Graph()
        _ = Linear(2, 2)(graph.input("x", [1, 2]))
        #expect(try #require(graph.error).reason.contains("assignNames"))
    }

    @Test func aPartUsedTwiceIsOneVariable() {
        let layer = Linear(2, 2)
        layer.assignNames()
        let graph = Graph()
        _ = layer(layer(graph.input("x", [1, 2])))
        #expect(graph.parameters.map(\.variableName) == ["weight", "bias"])
    }

    @Test func batchNormUpdatesItsStatisticsInTrainingAlone() {
        for mode in [Graph.Mode.training, .inference] {
            let norm = BatchNorm2d(3)
            norm.assignNames()
            let graph = Graph(mode: mode)
            _ = norm(graph.input("x", [2, 3, 4, 4]))
            let updated = graph.updates.map(\.variable)
            #expect(updated == (mode == .training ? ["running_mean", "running_var"] : []))
        }
    }
}
