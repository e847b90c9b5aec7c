public import RetintTensors

/// Why a graph cannot be built, differentiated, compiled or run.
public struct GraphError: Error, Hashable, Sendable {
    /// The operation's name, as in ``Operation/name``.
    public let operation: String
    /// The dotted path of the module that applied the operation; empty outside modules.
    public let module: String
    /// The shapes that the operation was applied to; empty if they do not matter.
    public let inputShapes: [Shape]
    /// The violated rule, with the values that violate it.
    public let reason: String

    /// An error with these parts.
    public init(operation: String, module: String = "", inputShapes: [Shape] = [], reason: String) {
        self.operation = operation
        self.module = module
        self.inputShapes = inputShapes
        self.reason = reason
    }
}

extension GraphError: CustomStringConvertible {
    /// `operation in module: reason (inputs: shapes)`, without empty parts.
    public var description: String {
        let location = module.isEmpty ? operation : "\(operation) in \(module)"
        guard !inputShapes.isEmpty else { return "\(location): \(reason)" }
        let shapes = inputShapes.map(\.description).joined(separator: ", ")
        return "\(location): \(reason) (inputs: \(shapes))"
    }
}
