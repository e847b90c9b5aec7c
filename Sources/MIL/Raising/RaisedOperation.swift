import MLPackage
import TensorGraph

/// A MIL operation that is being raised to the graph, with access to its parameters by name.
package struct RaisedOperation {
    package let operation: MILOperation
    /// Its location, for error messages.
    let place: String
    let graph: Graph
    let values: RaisedValues

    package var type: String { operation.type }

    func error(
        _ rule: String, _ remedy: String = "Convert the network without it."
    ) -> ConversionError {
        ConversionError(place: place, rule: rule, remedy: remedy)
    }

    func has(_ parameter: String) -> Bool { operation.inputs[parameter] != nil }

    /// A tensor, computed or constant.
    func tensor(_ parameter: String) throws -> Tensor {
        try tensor(try argument(parameter), parameter)
    }

    func optionalTensor(_ parameter: String) throws -> Tensor? {
        has(parameter) ? try tensor(parameter) : nil
    }

    /// The tensors of a parameter that takes a list.
    func tensors(_ parameter: String) throws -> [Tensor] {
        guard let arguments = operation.inputs[parameter], !arguments.isEmpty else {
            throw missing(parameter)
        }
        return try arguments.map { try tensor($0, parameter) }
    }

    private func tensor(_ argument: MILArgument, _ parameter: String) throws -> Tensor {
        switch argument {
        case .name(let name):
            guard let tensor = try values.tensor(name, in: graph) else {
                throw error("parameter \(parameter): \(name) is not a float tensor")
            }
            return tensor
        case .value(let value):
            return graph.constant(try TensorData(value))
        }
    }

    private func argument(_ parameter: String) throws -> MILArgument {
        guard let arguments = operation.inputs[parameter], let first = arguments.first else {
            throw missing(parameter)
        }
        guard arguments.count == 1 else {
            throw error("parameter \(parameter) takes one argument, not \(arguments.count)")
        }
        return first
    }

    private func missing(_ parameter: String) -> ConversionError {
        error("its parameter \(parameter) is missing", "The package is damaged: export it again.")
    }

    /// A constant parameter; nil if it is not given.
    func constant(_ parameter: String) throws -> MILValue? {
        guard has(parameter) else { return nil }
        switch try argument(parameter) {
        case .value(let value): return value
        case .name(let name):
            guard let value = values.constant(name) else {
                throw error("its parameter \(parameter) has to be a constant")
            }
            return value
        }
    }
}

/// Constant parameters as Swift values. If a parameter is not given, the operation's default is
/// used.
extension RaisedOperation {
    func integers(_ parameter: String) throws -> [Int]? {
        try constant(parameter).map { try $0.integers().map(Int.init) }
    }

    func requiredIntegers(_ parameter: String, count: Int? = nil) throws -> [Int] {
        guard let values = try integers(parameter) else { throw missing(parameter) }
        if let count, values.count != count {
            throw error("its parameter \(parameter) needs \(count) values, has \(values.count)")
        }
        return values
    }

    func integers(_ parameter: String, count: Int, default value: Int) throws -> [Int] {
        guard has(parameter) else { return [Int](repeating: value, count: count) }
        return try requiredIntegers(parameter, count: count)
    }

    func integer(_ parameter: String, default value: Int? = nil) throws -> Int {
        if !has(parameter), let value { return value }
        return try requiredIntegers(parameter, count: 1)[0]
    }

    func float(_ parameter: String, default value: Float? = nil) throws -> Float {
        guard let found = try constant(parameter) else {
            if let value { return value }
            throw missing(parameter)
        }
        let scalars =
            found.type.dataType.isFloat ? try found.floats() : try found.integers().map(Float.init)
        guard scalars.count == 1 else {
            throw error("its parameter \(parameter) has to be a single number")
        }
        return scalars[0]
    }

    func bool(_ parameter: String, default value: Bool) throws -> Bool {
        guard let found = try constant(parameter) else { return value }
        let flags = try found.bools()
        guard flags.count == 1 else {
            throw error("its parameter \(parameter) has to be a single bool")
        }
        return flags[0]
    }

    func bools(_ parameter: String, count: Int) throws -> [Bool] {
        guard let found = try constant(parameter) else {
            return [Bool](repeating: false, count: count)
        }
        let flags = try found.bools()
        guard flags.count == count else {
            throw error("its parameter \(parameter) needs \(count) bools, has \(flags.count)")
        }
        return flags
    }

    func string(_ parameter: String, default value: String) throws -> String {
        guard let found = try constant(parameter) else { return value }
        let strings = try found.strings()
        guard strings.count == 1 else {
            throw error("its parameter \(parameter) has to be a single string")
        }
        return strings[0]
    }

    /// An axis in 0..<rank; negative axes count from the end.
    func axis(_ parameter: String, rank: Int, default value: Int? = nil) throws -> Int {
        try axes([try integer(parameter, default: value)], rank: rank)[0]
    }

    /// Axes in 0..<rank, in the given order; negative axes count from the end.
    func axes(_ axes: [Int], rank: Int) throws -> [Int] {
        try axes.map { axis in
            guard (-rank..<rank).contains(axis) else {
                throw error("axis \(axis) is out of range for rank \(rank)")
            }
            return axis < 0 ? axis + rank : axis
        }
    }
}

extension Shape {
    /// An upper bound for the elements of any tensor that a program can be run with.
    static let largestCount = 1 << 31

    /// The number of elements; nil if a dimension is below 1 or the product is above
    /// ``largestCount``.
    var boundedCount: Int? {
        var count = 1
        for size in dimensions {
            guard (1...Self.largestCount).contains(size) else { return nil }
            count *= size
            if count > Self.largestCount { return nil }
        }
        return count
    }
}

extension TensorData {
    /// The values of a float constant.
    init(_ value: MILValue) throws {
        self.init(shape: Shape(value.type.shape ?? []), scalars: try value.floats())
    }
}
