import RetintMLPackage

/// Which channels of a program's values can be multiplied by which factors so that the outputs stay
/// the same: channels of one class have one factor, and a fixed class has the factor 1.
///
/// A factor enters a value through the weights of the operation that computes it, passes operations
/// that commute with positive factors (`relu`, pooling, resizing, sums of values with the same
/// factors) and leaves through the weights of the operations that use it.
struct ChannelClasses {
    /// The class of each channel along an axis, or one class for the whole value.
    struct Channels: Hashable {
        /// Nil for one class.
        var axis: Int?
        var ids: [Int]
    }

    /// A constant of an operation that takes up factors.
    struct Scaled {
        let operation: Int
        let parameter: String
        /// The classes whose factors multiply the elements, and those whose factors divide them.
        var multiplied: [Channels] = []
        var divided: [Channels] = []
        /// The groups of a convolution's weight; its input axis has the channels of one group.
        var groups = 1
        /// Whether it is a weight, not a vector.
        var isWeight = false
    }

    private(set) var values: [String: Channels] = [:]
    private(set) var constants: [Scaled] = []
    private var classes = DisjointSets()
    private var isFixed: [Bool] = []
    let program: MILProgram
    let types: [String: MILTensorType]
    let constantValues: [String: MILValue]

    init(_ program: MILProgram) {
        self.program = program
        types = program.types
        constantValues = program.constantValues
        for input in program.inputs { values[input.name] = fixed() }
        for (index, operation) in program.operations.enumerated()
        where !operation.isConstant && !operation.isConstantExpression {
            if !scale(operation, index) { fixAll(of: operation) }
        }
        for output in program.outputs { fix(output) }
    }

    /// The class that stands for all classes that are equal to this one.
    func root(_ id: Int) -> Int { classes.root(id) }

    func isFixed(_ id: Int) -> Bool { isFixed[root(id)] }

    var count: Int { classes.count }
}

// MARK: Classes

extension ChannelClasses {
    private mutating func new(isFixed: Bool = false) -> Int {
        self.isFixed.append(isFixed)
        return classes.add()
    }

    private mutating func fixed() -> Channels { Channels(axis: nil, ids: [new(isFixed: true)]) }

    /// A class of its own for each channel.
    ///
    /// - Parameter count: the number of channels: that of the weights, so that a small file cannot
    ///   ask for many.
    /// - Returns: nil if the value has another number.
    mutating func free(_ value: MILNamedType, axis: Int, count: Int) -> Channels? {
        guard let shape = value.type.shape, shape.indices.contains(axis), shape[axis] == count,
            count > 0
        else { return nil }
        return Channels(axis: axis, ids: (0..<count).map { _ in new() })
    }

    mutating func unite(_ first: Int, _ second: Int) {
        guard let (root, merged) = classes.unite(first, second) else { return }
        isFixed[root] = isFixed[root] || isFixed[merged]
    }

    /// Gives two values the same factors.
    mutating func unite(_ first: Channels, _ second: Channels) {
        if first.axis == second.axis, first.ids.count == second.ids.count {
            for (a, b) in zip(first.ids, second.ids) { unite(a, b) }
        } else if let one = (first.ids + second.ids).first {
            for id in first.ids + second.ids { unite(id, one) }
        }
    }

    mutating func fix(_ name: String) {
        for id in values[name]?.ids ?? [] { isFixed[root(id)] = true }
    }

    private mutating func fixAll(of operation: MILOperation) {
        for name in operation.inputs.values.joined().compactMap(\.name) { fix(name) }
        for output in operation.outputs { values[output.name] = fixed() }
    }

    mutating func define(_ operation: MILOperation, _ channels: Channels) {
        values[operation.outputs[0].name] = channels
    }

    mutating func add(_ constant: Scaled) { constants.append(constant) }
}

/// Chooses a power of two for each class, and applies them.
struct ChannelScaling {
    let classes: ChannelClasses
    /// The exponents of the classes' factors, by root; 0 for those that are missing.
    private(set) var exponents: [Int: Int] = [:]

    init(_ classes: ChannelClasses) { self.classes = classes }

    /// The exponent of a class; 0 if it is fixed.
    func exponent(_ id: Int) -> Int { exponents[classes.root(id)] ?? 0 }

    /// - Parameter exponent: from −64 to 64; others are clipped.
    mutating func set(_ id: Int, to exponent: Int) {
        guard !classes.isFixed(id) else { return }
        exponents[classes.root(id)] = min(max(exponent, -64), 64)
    }

    /// The program with factors in its constants, each of which is exact: classes that would round
    /// or overflow a constant keep the factor 1.
    mutating func scaledProgram() throws -> MILProgram {
        var replaced: [Int: [String: MILValue]] = [:]
        var isDone = false
        while !isDone {
            (isDone, replaced) = (true, [:])
            for constant in classes.constants {
                guard let value = classes.value(of: constant) else { continue }
                let change = exponents(of: constant, value)
                guard change.contains(where: { $0 != 0 }) else { continue }
                guard let scaled = try value.scaled(byPowers: change) else {
                    drop(constant)
                    isDone = false
                    continue
                }
                replaced[constant.operation, default: [:]][constant.parameter] = scaled
            }
        }
        return classes.program.replacingConstants(replaced)
    }

    private mutating func drop(_ constant: ChannelClasses.Scaled) {
        for id in (constant.multiplied + constant.divided).flatMap(\.ids) {
            exponents[classes.root(id)] = nil
        }
    }

    /// The exponent for each element of a constant.
    func exponents(of constant: ChannelClasses.Scaled, _ value: MILValue) -> [Int] {
        let shape = value.type.shape ?? []
        var result = [Int](repeating: 0, count: value.type.elementCount ?? 0)
        for (sign, all) in [(1, constant.multiplied), (-1, constant.divided)] {
            for channels in all {
                let own = channels.ids.map { sign * exponent($0) }
                guard own.contains(where: { $0 != 0 }) else { continue }
                guard let axis = channels.axis, shape.indices.contains(axis) else {
                    for index in result.indices { result[index] += own[0] }
                    continue
                }
                constant.forEachElement(of: shape, along: axis, channels: own.count) {
                    result[$0] += own[$1]
                }
            }
        }
        return result
    }
}

extension ChannelClasses.Scaled {
    /// Calls `body` with the index of each element of a constant, and its channel.
    ///
    /// - Parameters:
    ///   - axis: the axis of the channels.
    ///   - channels: their number: more than the axis has if they are those of all groups.
    func forEachElement(
        of shape: [Int], along axis: Int, channels: Int,
        _ body: (_ index: Int, _ channel: Int) -> Void
    ) {
        let inner = shape[(axis + 1)...].reduce(1, *)
        let block = shape[1...].reduce(1, *)
        // The group of a weight follows from its output channel, the first axis.
        let perGroup = groups > 1 && channels != shape[axis]
        let outputs = max(shape[0] / groups, 1)
        for index in 0..<shape.reduce(1, *) {
            var channel = index / inner % shape[axis]
            if perGroup { channel += index / block / outputs * shape[axis] }
            if channel < channels { body(index, channel) }
        }
    }
}

extension ChannelClasses {
    /// The value of a constant.
    func value(of constant: Scaled) -> MILValue? {
        program.operations[constant.operation].inputs[constant.parameter]?.first?.name
            .flatMap { constantValues[$0] }
    }
}

extension MILValue {
    /// The elements times powers of two; nil if one of them would be rounded or overflow.
    fileprivate func scaled(byPowers exponents: [Int]) throws -> MILValue? {
        let values = try floats()
        let scaled = zip(values, exponents).map {
            Float(sign: .plus, exponent: $1, significand: $0)
        }
        let result = MILValue.floats(scaled, shape: type.shape ?? [], as: type.dataType)
        let back = zip(try result.floats(), exponents).map {
            Float(sign: .plus, exponent: -$1, significand: $0)
        }
        return back == values ? result : nil
    }
}

extension MILProgram {
    /// The program with other values for parameters of operations, by the operation's index.
    fileprivate func replacingConstants(_ replaced: [Int: [String: MILValue]]) -> MILProgram {
        var result = self
        var names = Set(types.keys)
        var uses: [String: Int] = [:]
        for name in operations.flatMap(\.inputs.values).joined().compactMap(\.name) {
            uses[name, default: 0] += 1
        }
        // A constant of one operation keeps its name, by which plans refer to it.
        var own: [String: MILValue] = [:]
        result.operations = []
        for (index, operation) in operations.enumerated() {
            var operation = operation
            for (parameter, value) in (replaced[index] ?? [:]).sorted(by: { $0.key < $1.key }) {
                let old = operation.inputs[parameter]?.first?.name ?? parameter
                guard uses[old] != 1 else {
                    own[old] = value
                    continue
                }
                var constant = MILOperation(constant: names.insertUnused("\(old)_scaled"), value)
                constant.name = old
                result.operations.append(constant)
                operation.inputs[parameter] = [.name(constant.outputs[0].name)]
            }
            result.operations.append(operation)
        }
        for index in result.operations.indices {
            guard let name = result.operations[index].outputs.first?.name, let value = own[name]
            else { continue }
            result.operations[index].attributes["val"] = value
        }
        result.removeUnused()
        return result
    }
}
