public import TensorGraph

/// What a network consists of, module by module.
public struct NetworkSummary: Hashable, Sendable {
    public struct Row: Hashable, Sendable {
        /// The name of a module of the network; empty for what stands between them.
        public let module: String
        /// What it gives, of the last operation.
        public fileprivate(set) var shape: Shape
        public fileprivate(set) var parameters: Int
        public fileprivate(set) var multiplyAdds: Int

        public init(module: String, shape: Shape, parameters: Int, multiplyAdds: Int) {
            (self.module, self.shape) = (module, shape)
            (self.parameters, self.multiplyAdds) = (parameters, multiplyAdds)
        }
    }

    /// In the order in which they are computed.
    public private(set) var rows: [Row] = []
    /// Of the estimated a and b.
    public let output: Shape
    public var parameters: Int { rows.reduce(0) { $0 + $1.parameters } }
    /// Of convolutions and matrix products.
    public var multiplyAdds: Int { rows.reduce(0) { $0 + $1.multiplyAdds } }

    /// - Parameter input: the shape of lightness, [N, 1, H, W].
    public init(of colorizer: any ColorizerNetwork, input: Shape) {
        let graph = Graph(mode: .inference)
        let ab = colorizer(graph.input("lightness", input))
        output = ab.shape
        var places: [String: Int] = [:]
        for id in graph.live(from: [ab.id]) {
            let node = graph.nodes[id]
            if node.operation is Input || node.operation is Constant { continue }
            let module = Self.module(of: node)
            let place = places[module] ?? rows.count
            if places.updateValue(place, forKey: module) == nil {
                rows.append(
                    Row(module: module, shape: node.shape, parameters: 0, multiplyAdds: 0))
            }
            add(node, of: graph, to: place)
        }
    }

    private mutating func add(_ node: Graph.Node, of graph: Graph, to place: Int) {
        if let variable = node.operation as? Variable {
            if variable.role == .parameter { rows[place].parameters += node.shape.count }
            return
        }
        rows[place].shape = node.shape
        guard let counting = node.operation as? any MultiplyAddCounting else { return }
        let inputs = node.inputs.map { graph.nodes[$0].shape }
        rows[place].multiplyAdds += counting.multiplyAdds(inputs, node.shape)
    }

    /// The first part of the dotted path; a variable has its module's in its name.
    private static func module(of node: Graph.Node) -> String {
        let path = (node.operation as? Variable)?.variableName ?? node.module
        return path.split(separator: ".").first.map(String.init) ?? ""
    }
}
