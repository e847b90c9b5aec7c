public import RetintMLPackage

extension MLPackage {
    /// The package with equivalents of the operations that a device is known to compute
    /// incorrectly, if there are any (consequence `wrong` of ``PlacementReport``). It
    /// computes the same values up to rounding.
    ///
    /// - Returns: the package, and the names of the operations that were replaced.
    public func avoidingWrongNumbers() -> (package: MLPackage, replaced: [String]) {
        let context = PlacedOperation.Context(program)
        var rewriting = ProgramRewriting(program)
        let matrices = MatrixHardSwish(program, context)
        var replaced: [String] = []
        for operation in program.operations {
            let placed = PlacedOperation(operation: operation, context: context)
            if matrices.values.contains(placed.name) {
                rewriting.replaceByRank4(placed)
                if placed.matrixUnderHardSwish != nil { replaced.append(placed.name) }
            } else if rewriting.replace(placed) {
                replaced.append(placed.name)
            } else {
                rewriting.operations.append(operation)
            }
        }
        var package = self
        if !replaced.isEmpty {
            package.program.operations = rewriting.operations
            package.program.removeUnused()
        }
        return (package, replaced)
    }
}

/// The operations of a program while some of them are replaced.
struct ProgramRewriting {
    fileprivate var operations: [MILOperation] = []
    private var names: Set<String>
    /// The operation that is being replaced.
    private var current = MILOperation("", outputs: [])
    /// The names of the values of rank 4, by those of the values of rank 2 that they replace.
    var withRank4: [String: String] = [:]

    fileprivate init(_ program: MILProgram) { names = Set(program.types.keys) }

    /// Adds the equivalent of an operation that a rule names; adds nothing if there is none.
    fileprivate mutating func replace(_ operation: PlacedOperation) -> Bool {
        current = operation.operation
        let start = operations.count
        for rule in PlacementRule.wrongNumbers where rule.names(operation) {
            if let rewrite = rule.rewrite, rewrite(operation, &self) { return true }
            operations.removeSubrange(start...)
        }
        return false
    }

    /// Adds an operation with rank 4.
    fileprivate mutating func replaceByRank4(_ operation: PlacedOperation) {
        current = operation.operation
        raiseRank(operation)
    }

    /// Adds an operation with one result, of the replaced one's type unless a shape is given.
    mutating func add(
        _ type: String, _ inputs: [String: [MILArgument]], _ shape: [Int]? = nil
    ) -> MILArgument {
        guard var result = current.outputs.first?.type else { return .name("") }
        if let shape { result = MILTensorType(result.dataType, shape) }
        let name = uniqueName(type)
        operations.append(
            MILOperation(type, inputs: inputs, outputs: [MILNamedType(name, result)]))
        return .name(name)
    }

    /// Adds the operation whose result replaces that of the replaced operation.
    mutating func finish(_ type: String, _ inputs: [String: [MILArgument]]) {
        operations.append(
            MILOperation(type, name: current.name, inputs: inputs, outputs: current.outputs))
    }

    /// A number of the replaced operation's element type.
    mutating func constant(_ value: Float) -> MILArgument {
        constant(.float(value, as: current.outputs.first?.type.dataType ?? .float32))
    }

    mutating func constant(_ value: Bool) -> MILArgument { constant(.bool(value)) }

    mutating func constant(_ value: String) -> MILArgument { constant(.string(value)) }

    mutating func constant(_ values: [Int]) -> MILArgument {
        constant(.integers(values.map { Int32(clamping: $0) }))
    }

    private mutating func constant(_ value: MILValue) -> MILArgument {
        let name = uniqueName("const")
        operations.append(MILOperation(constant: name, value))
        return .name(name)
    }

    private mutating func uniqueName(_ type: String) -> String {
        names.insertUnused("\(current.outputs.first?.name ?? "value")_\(type)")
    }
}

extension PlacementRule {
    fileprivate func names(_ operation: PlacedOperation) -> Bool {
        if case .operation(let check) = check { check(operation) != nil } else { false }
    }
}
