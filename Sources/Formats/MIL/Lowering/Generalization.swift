import RetintMLPackage

/// A program on its way from several sizes to all of them.
struct Generalization {
    private let own: MILProgram
    private let samples: [ProgramSample]
    /// The operation that computes a value, by its name.
    private let producers: [String: Int]
    private var operations: [MILOperation] = []
    private var names: Set<String>
    private var constants: [MILValue: String] = [:]
    /// The vectors of sizes, and single sizes of them, that were computed already.
    private var shapes: [String: String] = [:]
    private var sizes: [SizeSource: String] = [:]

    init(_ own: MILProgram, _ samples: [ProgramSample]) {
        (self.own, self.samples) = (own, samples)
        names = Set(own.types.keys)
        let pairs = samples[0].computing.enumerated().flatMap { index, operation in
            operation.outputs.map { ($0.name, index) }
        }
        producers = Dictionary(pairs) { first, _ in first }
    }

    /// - Throws: ``ConversionError`` if an operation depends on the size in a way that cannot be
    ///   written.
    mutating func program(_ differences: [SizeDifference]) throws -> MILProgram {
        let parameters = Dictionary(
            uniqueKeysWithValues: differences.map { ($0.operation, $0.parameters) })
        var index = 0
        for var operation in own.operations {
            if !operation.isConstant {
                for parameter in parameters[index] ?? [] {
                    operation.inputs[parameter] = [
                        .name(try argument(index, operation, parameter))
                    ]
                }
                for output in operation.outputs.indices {
                    operation.outputs[output].type.dimensions = dimensions {
                        $0.computing[index].outputs[output].type
                    }
                }
                index += 1
            }
            operations.append(operation)
        }
        var result = own
        result.operations = operations
        for index in result.inputs.indices {
            result.inputs[index].type.dimensions = dimensions { $0.inputs[index].type }
        }
        if !differences.isEmpty { result.removeUnused() }
        return result
    }

    /// The dimensions of a value; those that differ between the sizes are unknown.
    private func dimensions(_ type: (ProgramSample) -> MILTensorType) -> [Int?] {
        let types = samples.map(type)
        guard types.allSatisfy({ $0.rank == types[0].rank }) else { return types[0].dimensions }
        return types[0].dimensions.indices.map { axis in
            let size = types[0].dimensions[axis]
            return types.allSatisfy { $0.dimensions[axis] == size } ? size : nil
        }
    }

    /// The name of the value that replaces a parameter's constant.
    private mutating func argument(
        _ index: Int, _ operation: MILOperation, _ parameter: String
    ) throws -> String {
        let columns = try samples.columns(index, parameter)
        switch (operation.type, parameter) {
        case ("slice_by_index", "begin"), ("slice_by_index", "end"):
            return try fromEnd(index, operation, parameter, columns)
        case ("reshape", "shape"): return try shape(index, operation, parameter, columns)
        case ("tile", "reps"):
            let elements = try columns.map { column in
                guard column.varies else { return SizeElement.fixed(column[0]) }
                guard let source = source(of: column, for: operation) else {
                    throw ConversionError.boundToSize(operation, parameter)
                }
                return .computed(source)
            }
            return vector(elements, operation)
        default: throw ConversionError.boundToSize(operation, parameter)
        }
    }
}

/// Slices: indices that are counted from the end.
extension Generalization {
    private mutating func fromEnd(
        _ index: Int, _ operation: MILOperation, _ parameter: String, _ columns: [[Int]]
    ) throws -> String {
        guard let x = operation.inputs["x"]?.first?.name, let sizes = sizes(of: x),
            sizes.count == columns.count
        else { throw ConversionError.boundToSize(operation, parameter) }
        let indices = try zip(columns, sizes).map { column, sizes in
            guard column.varies else { return column[0] }
            let distances = zip(column, sizes).map { $0 - $1 }
            guard !distances.varies, distances[0] < 0 else {
                throw ConversionError.boundToSize(operation, parameter)
            }
            return distances[0]
        }
        return constant(.integers(indices.map { Int32($0) }), "\(operation.name)_\(parameter)")
    }
}

/// Shapes.
extension Generalization {
    /// The shape of a reshape: one size may follow from the number of elements.
    private mutating func shape(
        _ index: Int, _ operation: MILOperation, _ parameter: String, _ columns: [[Int]]
    ) throws -> String {
        let isSingle = columns.count(where: \.varies) == 1
        let elements = columns.map { column in
            if !column.varies { return SizeElement.fixed(column[0]) }
            if isSingle { return .fixed(-1) }
            return source(of: column, for: operation).map { .computed($0) } ?? .fixed(-1)
        }
        guard elements.count(where: { $0 == .fixed(-1) }) <= 1 else {
            throw ConversionError.boundToSize(operation, parameter)
        }
        return vector(elements, operation)
    }

    /// The nearest value that an operation depends on with a size like this; one that is equal
    /// comes before one that is a multiple or a part.
    private func source(of column: [Int], for operation: MILOperation) -> SizeSource? {
        let ancestors = ancestors(of: operation)
        for relation in SizeSource.Relation.allCases {
            for name in ancestors {
                guard let sizes = sizes(of: name) else { continue }
                for axis in sizes.indices where sizes[axis].varies {
                    let factor = relation.factor(from: sizes[axis], to: column)
                    guard let factor else { continue }
                    return SizeSource(
                        value: name, axis: axis, relation: relation, factor: factor)
                }
            }
        }
        return nil
    }

    /// The values that an operation depends on, the nearest first.
    private func ancestors(of operation: MILOperation) -> [String] {
        var (found, seen) = (names(of: operation), Set<String>())
        var result: [String] = []
        var next = 0
        while next < found.count {
            let name = found[next]
            next += 1
            guard seen.insert(name).inserted else { continue }
            result.append(name)
            if let producer = producers[name] {
                found += names(of: samples[0].computing[producer])
            }
        }
        return result
    }

    private func names(of operation: MILOperation) -> [String] {
        operation.inputs.sorted { $0.key < $1.key }.flatMap { $0.value.compactMap(\.name) }
    }

    /// The sizes of each axis of a computed value, or of an input.
    private func sizes(of name: String) -> [[Int]]? {
        let types = samples.map { sample -> MILTensorType? in
            if let producer = producers[name] {
                let index = samples[0].computing[producer].outputs.firstIndex { $0.name == name }
                return index.map { sample.computing[producer].outputs[$0].type }
            }
            return sample.inputs.first { $0.name == name }?.type
        }
        let shapes = types.compactMap { $0?.shape }
        guard shapes.count == samples.count, shapes.allSatisfy({ $0.count == shapes[0].count })
        else { return nil }
        return shapes[0].indices.map { axis in shapes.map { $0[axis] } }
    }
}

/// Operations that compute shapes.
extension Generalization {
    private mutating func vector(_ elements: [SizeElement], _ operation: MILOperation) -> String {
        let word = "\(operation.name)_sizes"
        var parts: [String] = []
        var fixed: [Int32] = []
        for element in elements {
            switch element {
            case .fixed(let size): fixed.append(Int32(size))
            case .computed(let source):
                if !fixed.isEmpty { parts.append(constant(.integers(fixed), word)) }
                fixed = []
                parts.append(size(source))
            }
        }
        if !fixed.isEmpty { parts.append(constant(.integers(fixed), word)) }
        guard parts.count > 1 else { return parts[0] }
        return add(
            "concat",
            [
                "values": parts.map { .name($0) },
                "axis": [.name(constant(.integer(0), "axis"))],
                "interleave": [.name(constant(.bool(false), "interleave"))],
            ], word, count: elements.count)
    }

    /// A vector of one size.
    private mutating func size(_ source: SizeSource) -> String {
        if let known = sizes[source] { return known }
        let rank = sizes(of: source.value)?.count ?? 0
        let all =
            shapes[source.value]
            ?? add("shape", ["x": [.name(source.value)]], "\(source.value)_shape", count: rank)
        shapes[source.value] = all
        let none = MILArgument.name(constant(.bools([false]), "mask"))
        let axis = Int32(source.axis)
        var name = add(
            "slice_by_index",
            [
                "x": [.name(all)], "begin": [.name(constant(.integers([axis]), "axis"))],
                "end": [.name(constant(.integers([axis + 1]), "axis"))],
                "stride": [.name(constant(.integers([1]), "stride"))], "begin_mask": [none],
                "end_mask": [none], "squeeze_mask": [none],
            ], "\(source.value)_size_\(source.axis)", count: 1)
        if let type = source.relation.operation {
            let factor = constant(.integers([Int32(source.factor)]), "factor")
            name = add(
                type, ["x": [.name(name)], "y": [.name(factor)]], "\(name)_\(type)", count: 1)
        }
        sizes[source] = name
        return name
    }

    private mutating func add(
        _ type: String, _ inputs: [String: [MILArgument]], _ name: String, count: Int
    ) -> String {
        let output = MILNamedType(names.insertUnused(name), MILTensorType(.int32, [count]))
        operations.append(MILOperation(type, inputs: inputs, outputs: [output]))
        return output.name
    }

    private mutating func constant(_ value: MILValue, _ name: String) -> String {
        if let known = constants[value] { return known }
        let name = names.insertUnused(name)
        operations.append(MILOperation(constant: name, value))
        constants[value] = name
        return name
    }
}

/// An element of a shape.
private enum SizeElement: Hashable {
    /// −1 for what follows from the number of elements.
    case fixed(Int)
    case computed(SizeSource)
}

/// A size that is computed from one of an earlier value.
private struct SizeSource: Hashable {
    let value: String
    let axis: Int
    let relation: Relation
    let factor: Int

    enum Relation: CaseIterable {
        case equal, part, multiple

        /// The operation that applies a factor.
        var operation: String? {
            switch self {
            case .equal: nil
            case .part: "floor_div"
            case .multiple: "mul"
            }
        }

        /// The factor by which all of `sizes` lead to all of `wanted`; nil if there is none.
        func factor(from sizes: [Int], to wanted: [Int]) -> Int? {
            switch self {
            case .equal: sizes == wanted ? 1 : nil
            case .part: Self.quotient(sizes, wanted)
            case .multiple: Self.quotient(wanted, sizes)
            }
        }

        private static func quotient(_ larger: [Int], _ smaller: [Int]) -> Int? {
            let quotients = zip(larger, smaller).map { $1 > 0 && $0 % $1 == 0 ? $0 / $1 : 0 }
            return quotients.varies || quotients[0] < 2 ? nil : quotients[0]
        }
    }
}
