import RetintGraph
import RetintTensors

/// The entries of a network's state dict, in PyTorch's order.
public struct StateSpec: Hashable, Sendable {
    /// How an entry changes and is stored.
    public enum Kind: Hashable, Sendable {
        /// Learned by gradient descent; float32.
        case parameter
        /// Updated in other ways, such as running statistics; float32.
        case buffer
        /// An int64 of rank 0 that is not a variable of the graph (`num_batches_tracked`).
        case counter
    }

    /// One tensor of the state dict.
    public struct Entry: Hashable, Sendable {
        /// The dotted name: `model1.0.weight`.
        public let name: String
        /// The tensor's shape.
        public let shape: Shape
        /// How it changes and is stored.
        public let kind: Kind
        /// The distribution of its initial values.
        public let initializer: Initializer
    }

    /// All entries, in PyTorch's order.
    public let entries: [Entry]

    /// Names everything in `network`, and lists its entries.
    public init(of network: Module) {
        network.assignNames()
        var entries: [Entry] = []
        network.visit(prefix: "") { path, member in
            entries += Entry(name: path, member).map { [$0] } ?? []
        }
        self.entries = entries
    }

    /// The number of values that gradient descent learns.
    public var parameterCount: Int {
        entries.filter { $0.kind == .parameter }.reduce(0) { $0 + $1.shape.count }
    }

    /// The entries that are variables of the graph: all except counters.
    public var tensors: [Entry] { entries.filter { $0.kind != .counter } }

    /// Initial values of all variables, by name, the same for the same seed on every machine.
    ///
    /// The values of a variable depend only on the seed and its name: adding a layer does not
    /// change the others.
    public func initialValues(seed: UInt64) -> [String: TensorData] {
        var values: [String: TensorData] = [:]
        for entry in tensors { values[entry.name] = entry.initialValues(seed: seed) }
        return values
    }
}

extension StateSpec.Entry {
    /// The initial values of this variable in ``StateSpec/initialValues(seed:)``.
    package func initialValues(seed: UInt64) -> TensorData {
        var random = RandomStream(seed: seed, name: name)
        return initializer.values(shape, &random)
    }

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
