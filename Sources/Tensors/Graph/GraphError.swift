public import RetintFiles
public import RetintTensors

/// Why a graph cannot be built, differentiated, compiled or run.
public typealias GraphError = Refusal<GraphProblem>

/// The operation whose rule is broken, and what it was applied to.
public struct GraphProblem: RefusalKind {
    /// The operation's name, as in ``Operation/name``.
    public let operation: String
    /// The dotted path of the module that applied the operation; empty outside modules.
    public let module: String
    /// The shapes that the operation was applied to; empty if they do not matter.
    public let inputShapes: [Shape]
    /// The violated rule, with the values that violate it.
    public let reason: String
    /// The device that failed, such as `cuda`; nil if it is the program that cannot be run.
    public let device: String?

    /// That of the program that built the graph: files are checked before they become one.
    public var fault: Fault { .failure }
}

extension GraphError {
    /// An error with these parts.
    public init(operation: String, module: String = "", inputShapes: [Shape] = [], reason: String) {
        let shapes = inputShapes.map(\.description).joined(separator: ", ")
        self.init(
            GraphProblem(
                operation: operation, module: module, inputShapes: inputShapes, reason: reason,
                device: nil),
            place: module.isEmpty ? operation : "\(operation) in \(module)",
            rule: inputShapes.isEmpty ? reason : "\(reason) (inputs: \(shapes))")
    }

    /// A failure of a device: it is not there, a library is missing, its memory is too small, or
    /// it stopped.
    package init(device: String, reason: String) {
        self.init(
            GraphProblem(
                operation: "", module: "", inputShapes: [], reason: reason, device: device),
            place: device, rule: reason)
    }

    /// The operation's name, as in ``Operation/name``.
    public var operation: String { kind.operation }
    /// The dotted path of the module that applied the operation; empty outside modules.
    public var module: String { kind.module }
    /// The shapes that the operation was applied to; empty if they do not matter.
    public var inputShapes: [Shape] { kind.inputShapes }
    /// The rule that was broken, with the values that broke it.
    public var reason: String { kind.reason }
}
