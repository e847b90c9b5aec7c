import RetintGraph
public import RetintTensors

/// A network's shapes, parameters and work, module by module.
public struct NetworkSummary: Hashable, Sendable {
    /// One module of the network.
    public struct Row: Hashable, Sendable {
        /// The module's name; empty for the operations between modules.
        public let module: String
        /// The output's shape.
        public fileprivate(set) var shape: Shape
        /// The number of learned values.
        public fileprivate(set) var parameters: Int
        /// Multiply-adds of convolutions and matrix products.
        public fileprivate(set) var multiplyAdds: Int

        /// A row with these values.
        public init(module: String, shape: Shape, parameters: Int, multiplyAdds: Int) {
            (self.module, self.shape) = (module, shape)
            (self.parameters, self.multiplyAdds) = (parameters, multiplyAdds)
        }
    }

    /// The modules in the order in which they are computed.
    public private(set) var rows: [Row] = []
    /// The shape of the estimated a and b.
    public let output: Shape
    /// The number of learned values.
    public var parameters: Int { rows.reduce(0) { $0 + $1.parameters } }
    /// Multiply-adds of convolutions and matrix products.
    public var multiplyAdds: Int { rows.reduce(0) { $0 + $1.multiplyAdds } }

    /// Summarizes a network for inference.
    ///
    /// - Parameter input: the shape of lightness, [N, 1, H, W].
    public init(of colorizer: any ColorizerNetwork, input: Shape) {
        let graph = Graph(mode: .inference)
        let ab = colorizer(graph.input("lightness", input))
        output = ab.shape
        var indices: [String: Int] = [:]
        for id in graph.live(from: [ab.id]) {
            let node = graph.nodes[id]
            if node.operation is Input || node.operation is Constant { continue }
            let module = Self.module(of: node)
            let index = indices[module] ?? rows.count
            if indices.updateValue(index, forKey: module) == nil {
                rows.append(
                    Row(module: module, shape: node.shape, parameters: 0, multiplyAdds: 0))
            }
            add(node, of: graph, to: index)
        }
    }

    private mutating func add(_ node: Graph.Node, of graph: Graph, to index: Int) {
        if let variable = node.operation as? Variable {
            if variable.role == .parameter { rows[index].parameters += node.shape.count }
            return
        }
        rows[index].shape = node.shape
        guard let counting = node.operation as? any MultiplyAddCounting else { return }
        let inputs = node.inputs.map { graph.nodes[$0].shape }
        rows[index].multiplyAdds += counting.multiplyAdds(inputs, node.shape)
    }

    /// The first part of the node's module path; a variable's is part of its name.
    private static func module(of node: Graph.Node) -> String {
        let path = (node.operation as? Variable)?.variableName ?? node.module
        return path.split(separator: ".").first.map(String.init) ?? ""
    }
}
