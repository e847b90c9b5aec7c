import RetintMLPackage

/// An operation of a program, with its constant parameters as Swift values.
package protocol OperationParameters {
    var operation: MILOperation { get }
    /// Its location, for error messages.
    var place: String { get }

    /// The value of a constant that is defined before the operation; nil for any other value.
    func constantValue(_ name: String) throws -> MILValue?
}

extension OperationParameters {
    package var type: String { operation.type }

    package func error(
        _ rule: String, _ remedy: String = "Convert the network without it."
    ) -> ConversionError {
        ConversionError(place: place, rule: rule, remedy: remedy)
    }

    package func has(_ parameter: String) -> Bool { operation.inputs[parameter] != nil }

    package func argument(_ parameter: String) throws -> MILArgument {
        let arguments = try arguments(parameter)
        guard arguments.count == 1 else {
            throw error("parameter \(parameter) takes one argument, not \(arguments.count)")
        }
        return arguments[0]
    }

    /// The arguments of a parameter that takes a list.
    package func arguments(_ parameter: String) throws -> [MILArgument] {
        guard let arguments = operation.inputs[parameter], !arguments.isEmpty else {
            throw missing(parameter)
        }
        return arguments
    }

    private func missing(_ parameter: String) -> ConversionError {
        error("its parameter \(parameter) is missing", "The package is damaged: export it again.")
    }

    /// A constant parameter; nil if it is not given.
    package func constant(_ parameter: String) throws -> MILValue? {
        guard has(parameter) else { return nil }
        switch try argument(parameter) {
        case .value(let value): return value
        case .name(let name):
            guard let value = try constantValue(name) else {
                throw error("its parameter \(parameter) has to be a constant")
            }
            return value
        }
    }
}

/// The range of each axis for `slice_by_index`, with indices counted from the start.
package struct SlicedAxes {
    package var begin: [Int]
    package var end: [Int]
    package var stride: [Int]
    /// The axes of which one index is taken, and that are then removed.
    package let squeezed: [Bool]
}

extension OperationParameters {
    /// The parameters of a `slice_by_index` of a value of this shape. Strides are not checked.
    package func slicedAxes(of shape: [Int]) throws -> SlicedAxes {
        let rank = shape.count
        var axes = SlicedAxes(
            begin: try requiredIntegers("begin", count: rank),
            end: try requiredIntegers("end", count: rank),
            stride: try integers("stride", count: rank, default: 1),
            squeezed: try bools("squeeze_mask", count: rank))
        let fromStart = try bools("begin_mask", count: rank)
        let toEnd = try bools("end_mask", count: rank)
        func fromFront(_ index: Int, _ size: Int) -> Int { index < 0 ? index + size : index }
        for (axis, size) in shape.enumerated() {
            axes.begin[axis] = fromStart[axis] ? 0 : fromFront(axes.begin[axis], size)
            axes.end[axis] = toEnd[axis] ? size : min(fromFront(axes.end[axis], size), size)
            if axes.squeezed[axis] {
                (axes.end[axis], axes.stride[axis]) = (axes.begin[axis] + 1, 1)
            }
        }
        return axes
    }
}

/// Constant parameters. If a parameter is not given, the operation's default is used.
extension OperationParameters {
    package func integers(_ parameter: String) throws -> [Int]? {
        try constant(parameter).map { try $0.integers().map(Int.init) }
    }

    package func requiredIntegers(_ parameter: String, count: Int? = nil) throws -> [Int] {
        guard let values = try integers(parameter) else { throw missing(parameter) }
        if let count, values.count != count {
            throw error("its parameter \(parameter) needs \(count) values, has \(values.count)")
        }
        return values
    }

    package func integers(
        _ parameter: String, count: Int, default value: Int
    ) throws -> [Int] {
        guard has(parameter) else { return [Int](repeating: value, count: count) }
        return try requiredIntegers(parameter, count: count)
    }

    package func integer(_ parameter: String, default value: Int? = nil) throws -> Int {
        if !has(parameter), let value { return value }
        return try requiredIntegers(parameter, count: 1)[0]
    }

    package func float(_ parameter: String, default value: Float? = nil) throws -> Float {
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

    package func bool(_ parameter: String, default value: Bool) throws -> Bool {
        guard let found = try constant(parameter) else { return value }
        let flags = try found.bools()
        guard flags.count == 1 else {
            throw error("its parameter \(parameter) has to be a single bool")
        }
        return flags[0]
    }

    package func bools(_ parameter: String, count: Int) throws -> [Bool] {
        guard let found = try constant(parameter) else {
            return [Bool](repeating: false, count: count)
        }
        let flags = try found.bools()
        guard flags.count == count else {
            throw error("its parameter \(parameter) needs \(count) bools, has \(flags.count)")
        }
        return flags
    }

    package func string(_ parameter: String, default value: String) throws -> String {
        guard let found = try constant(parameter) else { return value }
        let strings = try found.strings()
        guard strings.count == 1 else {
            throw error("its parameter \(parameter) has to be a single string")
        }
        return strings[0]
    }

    /// An axis in 0..<rank; negative axes count from the end.
    package func axis(
        _ parameter: String, rank: Int, default value: Int? = nil
    ) throws -> Int {
        try axes([try integer(parameter, default: value)], rank: rank)[0]
    }

    /// Axes in 0..<rank, in the given order; negative axes count from the end.
    package func axes(_ axes: [Int], rank: Int) throws -> [Int] {
        try axes.map { axis in
            guard (-rank..<rank).contains(axis) else {
                throw error("axis \(axis) is out of range for rank \(rank)")
            }
            return axis < 0 ? axis + rank : axis
        }
    }
}
