import RetintFloat64
import RetintGraph
import RetintMLPackage
import RetintTensors

/// Arithmetic on sizes: how a program for flexible sizes finds the shape that a reshape takes. The
/// sizes are known when the program is raised, so that its results are constants.
extension RaisedOperation {
    /// More elements than a shape has are not sizes.
    private static let largestCount = 9

    /// The results of an operation on sizes; nil for every other operation.
    func sizes() throws -> [MILValue]? {
        guard type != "shape" else { return try constants(try results()) }
        let arguments = operation.inputs.values.joined()
        guard arguments.contains(where: { $0.name.map(values.sizes.contains) ?? false }),
            arguments.allSatisfy(isSmallConstant)
        else { return nil }
        // A graph of its own, since the network's would keep what nothing needs.
        let apart = RaisedOperation(
            operation: operation, place: place, graph: Graph(), values: values)
        return try constants(try apart.results())
    }

    private func isSmallConstant(_ argument: MILArgument) -> Bool {
        let value: MILValue? =
            switch argument {
            case .value(let value): value
            case .name(let name): values.constant(name)
            }
        return value?.type.elementCount.map { $0 <= Self.largestCount } ?? false
    }

    private func constants(_ results: [Tensor]) throws -> [MILValue]? {
        guard results.allSatisfy({ $0.shape.count <= Self.largestCount }) else { return nil }
        return try zip(results, operation.outputs).map { result, output in
            MILValue(try evaluated(result), as: output.type.dataType)
        }
    }

    private func evaluated(_ result: Tensor) throws -> TensorData {
        let nothing = Float64Feeds(input: { _ in nil }, variable: { _ in nil })
        do {
            var run = try Float64Run(result.graph, [result.id], nothing)
            var last: Float64Array?
            while let next = try run.next() { last = next.value }
            guard let last, last.values.allSatisfy({ $0.magnitude < 0x1p31 }) else {
                throw error("the sizes that it computes are out of range")
            }
            return last.rounded
        } catch let error as GraphError {
            throw self.error(error.rule)
        }
    }
}

extension MILValue {
    /// Sizes, or numbers computed from them, in the type that a program declares.
    fileprivate init(_ data: TensorData, as dataType: MILDataType) {
        let shape = data.shape.dimensions
        switch dataType {
        case .bool:
            self.init(
                type: MILTensorType(.bool, shape), content: .bools(data.scalars.map { $0 != 0 }))
        case let type where type.isFloat:
            self = .floats(data.scalars, shape: shape, as: type)
        default: self = .integers(data.scalars.map { Int32($0) }, shape: shape)
        }
    }
}
