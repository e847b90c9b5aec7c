import RetintGraph
import RetintTensors
import Testing

/// What building a graph does: sharing, liveness, updates, errors.
@Suite struct GraphTests {
    @Test func equalOperationsOnEqualInputsAreOneNode() {
        let graph = Graph()
        let x = graph.input("x", [2, 3])
        #expect(exp(x).id == exp(x).id)
        #expect((x + 1).id == (x + 1).id)
        #expect(graph.input("x", [2, 3]).id == x.id)
        #expect(softmax(x, axis: 0).id == softmax(x, axis: 0).id)
        #expect(graph.nodes.count == 5)
    }

    @Test func differentAttributesInputsOrOrderAreDifferentNodes() {
        let graph = Graph()
        let (x, y) = (graph.input("x", [2, 3]), graph.input("y", [2, 3]))
        #expect(softmax(x, axis: 0).id != softmax(x, axis: 1).id)
        #expect(exp(x).id != exp(y).id)
        #expect((x - y).id != (y - x).id)
        #expect(graph.variable("x", [2, 3], role: .parameter).id != x.id)
    }

    @Test func constantsAreSharedByTheirBits() {
        let graph = Graph()
        #expect(graph.constant(1.5).id == graph.constant(1.5).id)
        #expect(graph.constant(0).id != graph.constant(-0.0).id)
        #expect(graph.constant(.nan).id == graph.constant(.nan).id)
        let row = TensorData(shape: [1, 2], repeating: 1)
        let column = TensorData(shape: [2, 1], repeating: 1)
        #expect(graph.constant(row).id != graph.constant(column).id)
    }

    @Test func workIsCountedWithoutOverflow() {
        let graph = Graph()
        let x = graph.input("x", [1, 4, 64, 64])
        let weight = graph.input("w", [8, 4, 3, 3])
        let y = conv2d(x, weight: weight, padding: 1)
        let products = 8 * 64 * 64 * 4 * 9
        #expect(multiplyAdds(of: [y]) == products)
        let (work, longest) = graph.work(of: [y + 1])
        #expect(work > Double(products) && work < 3 * Double(products))
        #expect(longest?.operation.name == "conv2d")
        // Each has 2⁴⁰ elements at most, but not their product.
        let wide = graph.input("wide", [1 << 20, 1 << 20])
        let square = matmul(wide, wide)
        #expect(multiplyAdds(of: [square]) == 1 << 60)
        #expect(multiplyAdds(of: (0..<20).map { matmul(square, wide + Float($0)) }) == .max)
        #expect(graph.work(of: [matmul(square, wide)]).total > 0x1p61)
    }

    @Test func windowsAndSortingAreWork() {
        let x = Graph().input("x", [1, 1, 1024, 1024])
        let count = 0x1p20
        for pooled in [
            maxPool2d(x, kernel: 513, stride: 1, padding: 256),
            avgPool2d(x, kernel: 513, stride: 1, padding: 256),
        ] {
            let work = x.graph.work(of: [pooled]).total
            #expect(work >= count * 513 * 513)
        }
        #expect(x.graph.work(of: [topIndices(x, 1, axis: 3)]).total > 1000 * count)
        #expect(x.graph.work(of: [exp(x)]).total < 100 * count)
    }

    @Test func noOperationForTheShapeThatIsAlreadyThere() {
        let x = Graph().input("x", [2, 3])
        #expect(x.reshaped([2, 3]).id == x.id)
        #expect(x.broadcast(to: [2, 3]).id == x.id)
    }

    @Test func onlyWhatTheRootsNeedIsLive() {
        let graph = Graph()
        let (x, y) = (graph.input("x", [4]), graph.input("y", [4]))
        let used = exp(x)
        let unused = tanh(y)
        let root = used * x
        #expect(graph.live(from: [root.id]) == [x.id, used.id, root.id])
        #expect(graph.live(from: [root.id, unused.id]).count == 5)
        #expect(graph.live(from: []) == [])
    }

    @Test func nodesKeepTheModuleThatAddedThem() {
        let graph = Graph()
        let x = graph.input("x", [4])
        let y = graph.inModule("encoder") { graph.inModule("0") { exp(x) } }
        let z = graph.inModule("decoder") { tanh(y) }
        #expect([x, y, z].map { graph.nodes[$0.id].module } == ["", "encoder.0", "decoder"])
    }

    @Test func anErrorSaysWhatWhereAndOnWhichShapes() {
        let graph = Graph()
        let (x, y) = (graph.input("x", [2, 3]), graph.input("y", [4]))
        let sum = graph.inModule("head") { graph.inModule("bias") { x + y } }
        #expect(sum.shape == [2, 3], "model code goes on with a stand-in")
        #expect(
            throws: GraphError(
                operation: "add", module: "head.bias", inputShapes: [[2, 3], [4]],
                reason: "[2, 3] and [4] cannot be broadcast together")
        ) { try graph.validate() }
        #expect(
            graph.error?.description
                == "add in head.bias: [2, 3] and [4] cannot be broadcast together "
                + "(inputs: [2, 3], [4])")
    }

    @Test func theFirstErrorIsKept() {
        let graph = Graph()
        let x = graph.input("x", [2, 3])
        _ = x.reshaped([7])
        _ = softmax(x, axis: 5)
        #expect(graph.error?.operation == "reshape")
    }

    @Test func tensorsOfAnotherGraphAreRefused() {
        let graph = Graph()
        let x = graph.input("x", [2, 3])
        let foreign = Graph()
        _ = foreign.input("a", [1])
        let y = foreign.input("y", [2, 3])
        _ = x * y
        #expect(graph.error?.reason == "an input belongs to another graph")
        #expect(foreign.error == nil)
    }

    @Test func aNameStandsForOneThing() {
        let graph = Graph()
        _ = graph.input("weight", [2, 3])
        _ = graph.variable("weight", [2, 3], role: .parameter)
        #expect(graph.error == nil, "inputs and variables have names of their own")
        _ = graph.variable("weight", [3, 2], role: .parameter)
        #expect(
            graph.error?.description
                == "variable: weight is already declared differently, with shape [2, 3] "
                + "(inputs: [3, 2])")
    }

    @Test func updatesKeepTheirOrder() {
        let graph = Graph()
        let a = graph.variable("a", [2], role: .parameter)
        let b = graph.variable("b", [], role: .optimizerState)
        graph.update(b, to: b + 1)
        graph.update(a, to: a * 2)
        #expect(graph.updates.map(\.variable) == ["b", "a"])
        #expect(graph.error == nil)
    }

    @Test func updatesDoNotKeepTheirGraphAlive() {
        weak var kept: Graph?
        do {
            let graph = Graph()
            let a = graph.variable("a", [2], role: .parameter)
            graph.update(a, to: a * 2)
            kept = graph
        }
        #expect(kept == nil)
    }

    @Test func onlyVariablesAreUpdated() {
        let graph = Graph()
        let x = graph.input("x", [2])
        graph.update(x, to: x + 1)
        #expect(graph.updates.isEmpty)
        #expect(graph.error?.description == "update: only a variable can be updated (inputs: [2])")
    }

    @Test func updatesKeepShapes() {
        let graph = Graph()
        let a = graph.variable("a", [2], role: .parameter)
        graph.update(a, to: a.sum())
        #expect(graph.updates.isEmpty)
        #expect(
            graph.error?.description
                == "update: the new value of a must keep its shape (inputs: [2], [])")
    }

    @Test func updatesStayInTheirGraph() {
        let graph = Graph()
        let a = graph.variable("a", [2], role: .parameter)
        graph.update(a, to: Graph().input("x", [2]))
        #expect(graph.error?.reason == "a tensor belongs to another graph")
    }

    @Test func variablesAreFoundByRoleInOrder() {
        let graph = Graph()
        let a = graph.variable("a", [2], role: .parameter)
        let b = graph.variable("b", [2], role: .buffer)
        let c = graph.variable("c", [2], role: .parameter)
        #expect(graph.variables(.parameter).map(\.id) == [a.id, c.id])
        #expect(graph.variables(.buffer, .parameter).map(\.id) == [a.id, b.id, c.id])
    }
}
