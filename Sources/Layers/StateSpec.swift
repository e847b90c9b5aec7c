import TensorGraph

/// What a network's state dict holds, in PyTorch's order.
public struct StateSpec: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Learned by gradient descent; float32.
        case parameter
        /// Learned otherwise, such as running statistics; float32.
        case buffer
        /// A rank-0 int64 that is no variable of the graph (`num_batches_tracked`).
        case counter
    }

    public struct Entry: Hashable, Sendable {
        public let name: String
        public let shape: Shape
        public let kind: Kind
        public let initializer: Initializer
    }

    public let entries: [Entry]

    /// Names everything in `network` and lists it.
    public init(of network: Module) {
        network.assignNames()
        var entries: [Entry] = []
        network.visit(prefix: "") { path, member in
            entries += Entry(name: path, member).map { [$0] } ?? []
        }
        self.entries = entries
    }

    /// How many numbers gradient descent learns.
    public var parameterCount: Int {
        entries.filter { $0.kind == .parameter }.reduce(0) { $0 + $1.shape.count }
    }

    /// The entries that are variables of the graph: all but counters.
    public var tensors: [Entry] { entries.filter { $0.kind != .counter } }

    /// Fresh values of all variables, by name; the same for the same seed on any machine.
    ///
    /// Each value depends on the seed and its own name alone, so a network that gains a layer
    /// starts from the same numbers everywhere else.
    public func initialValues(seed: UInt64) -> [String: TensorData] {
        var values: [String: TensorData] = [:]
        for entry in tensors {
            var random = RandomStream(seed: seed, name: entry.name)
            values[entry.name] = entry.initializer.values(entry.shape, &random)
        }
        return values
    }
}

extension StateSpec.Entry {
    fileprivate init?(name: String, _ member: Member) {
        self.name = name
        switch member.value {
        case .module:
            return nil
        case .parameter(let parameter):
            shape = parameter.shape
            kind = parameter.role == .parameter ? .parameter : .buffer
            initializer = parameter.initializer
        case .counter:
            (shape, kind, initializer) = (.scalar, .counter, .zeros)
        }
    }
}
