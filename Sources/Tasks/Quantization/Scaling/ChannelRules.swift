import RetintMLPackage

/// How factors pass each type of operation.
extension ChannelClasses {
    /// The operations that commute with positive factors of channels, from `x` to the result.
    private static let homogeneous: Set<String> = [
        "cast", "identity", "leaky_relu", "prelu", "reduce_max", "reduce_mean", "reduce_sum",
        "relu",
    ]
    /// Those among them that work on all axes after the first two.
    private static let spatial: Set<String> = [
        "avg_pool", "crop", "max_pool", "resize_bilinear", "resize_nearest_neighbor",
        "upsample_bilinear", "upsample_nearest_neighbor",
    ]
    /// The largest number of channels of a value.
    private static let largestCount = 1 << 20

    /// Lets factors pass an operation.
    ///
    /// - Returns: false if it has no rule, so that its values must stay as they are.
    mutating func scale(_ operation: MILOperation, _ index: Int) -> Bool {
        guard operation.outputs.count == 1 else { return false }
        switch operation.type {
        case "conv": return weighted(operation, index, axis: 1, weight: "weight", output: 0)
        case "conv_transpose":
            return weighted(operation, index, axis: 1, weight: "weight", output: 1)
        case "linear":
            return weighted(
                operation, index, axis: lastAxis(operation), weight: "weight", output: 0)
        case "matmul":
            guard !flag(operation, "transpose_x") else { return false }
            return weighted(
                operation, index, axis: lastAxis(operation), weight: "y",
                output: flag(operation, "transpose_y") ? 0 : 1)
        case "batch_norm": return normalized(operation, index)
        case "layer_norm", "instance_norm": return normalizing(operation, index)
        case "add", "sub", "maximum", "minimum": return combined(operation, index)
        case "mul", "real_div": return product(operation, index)
        case "concat": return concatenated(operation)
        case "pad": return padded(operation)
        case "transpose": return transposed(operation)
        case "reshape": return reshaped(operation)
        case "pixel_shuffle": return shuffled(operation)
        case let type where Self.homogeneous.contains(type): return passed(operation)
        case let type where Self.spatial.contains(type):
            guard channels(operation, "x")?.axis ?? 0 <= 1 else { return false }
            return passed(operation)
        default: return false
        }
    }

    private func lastAxis(_ operation: MILOperation) -> Int {
        max((operation.outputs[0].type.shape?.count ?? 1) - 1, 0)
    }

    private func channels(_ operation: MILOperation, _ parameter: String) -> Channels? {
        operation.inputs[parameter]?.first?.name.flatMap { values[$0] }
    }

    private func constant(_ operation: MILOperation, _ parameter: String) -> MILValue? {
        operation.inputs[parameter]?.first?.name.flatMap { constantValues[$0] }
            .flatMap { $0.type.dataType.isFloat ? $0 : nil }
    }

    /// The integers of a constant parameter of an operation.
    func integers(_ operation: MILOperation, _ parameter: String) -> [Int]? {
        (try? constantValues.value(of: operation.inputs[parameter])?.integers())?.map(Int.init)
    }

    private func flag(_ operation: MILOperation, _ parameter: String) -> Bool {
        (try? constantValues.value(of: operation.inputs[parameter])?.bools())?.first ?? false
    }

    private func shape(_ operation: MILOperation, _ parameter: String) -> [Int]? {
        operation.inputs[parameter]?.first?.name.flatMap { types[$0]?.shape }
    }

    private mutating func passed(_ operation: MILOperation) -> Bool {
        guard let x = channels(operation, "x"), keepsChannels(operation),
            operation.outputs[0].type.dataType.isFloat
        else { return false }
        define(operation, x)
        return true
    }

    /// An operation with a weight: factors of the input leave through it, those of the output
    /// enter.
    ///
    /// - Parameters:
    ///   - axis: the axis of channels of both values.
    ///   - output: the axis of the output channels in the weight; the other one of the first two
    ///     has the input channels.
    private mutating func weighted(
        _ operation: MILOperation, _ index: Int, axis: Int, weight: String, output: Int
    ) -> Bool {
        guard let x = channels(operation, "x"), let value = constant(operation, weight),
            let shape = value.type.shape, shape.count > 1, value.type.elementCount ?? 0 > 0,
            operation.type != "matmul" || shape.count == 2,
            isVector(operation, "bias", shape[output], isOptional: true)
        else { return false }
        let groups = integers(operation, "groups")?.first ?? 1
        let inputs = shape[1 - output].multipliedReportingOverflow(by: groups)
        guard groups > 0, !inputs.overflow, output == 0 || groups == 1,
            x.axis == nil || (x.axis == axis && x.ids.count == inputs.partialValue),
            let result = free(operation.outputs[0], axis: axis, count: shape[output])
        else { return false }
        add(
            Scaled(
                operation: index, parameter: weight,
                multiplied: [Channels(axis: output, ids: result.ids)],
                divided: [Channels(axis: x.axis == nil ? nil : 1 - output, ids: x.ids)],
                groups: groups, isWeight: true))
        addVector(operation, index, "bias", result)
        define(operation, result)
        return true
    }

    /// Whether a parameter is a constant vector of this length.
    private func isVector(
        _ operation: MILOperation, _ parameter: String, _ count: Int, isOptional: Bool = false
    ) -> Bool {
        if isOptional, operation.inputs[parameter] == nil { return true }
        return constant(operation, parameter)?.type.shape == [count]
    }

    /// A vector with one element per channel of a value.
    private mutating func addVector(
        _ operation: MILOperation, _ index: Int, _ parameter: String, _ value: Channels,
        divided: Channels? = nil
    ) {
        guard operation.inputs[parameter] != nil else { return }
        func vector(_ channels: Channels) -> Channels {
            Channels(axis: channels.axis == nil ? nil : 0, ids: channels.ids)
        }
        add(
            Scaled(
                operation: index, parameter: parameter, multiplied: [vector(value)],
                divided: divided.map { [vector($0)] } ?? []))
    }

    /// (x − mean) / √(variance + ε) · gamma + beta: the mean has the factors of the input, gamma
    /// those of the output over those of the input.
    private mutating func normalized(_ operation: MILOperation, _ index: Int) -> Bool {
        guard let x = channels(operation, "x"),
            let count = constant(operation, "gamma")?.type.elementCount,
            ["mean", "gamma", "beta"].allSatisfy({ isVector(operation, $0, count) }),
            x.axis == nil || (x.axis == 1 && x.ids.count == count),
            let result = free(operation.outputs[0], axis: 1, count: count)
        else { return false }
        addVector(operation, index, "mean", x)
        addVector(operation, index, "gamma", result, divided: x)
        addVector(operation, index, "beta", result)
        define(operation, result)
        return true
    }

    /// Normalization by the input's own statistics: its ε has no factor, so the input has none.
    private mutating func normalizing(_ operation: MILOperation, _ index: Int) -> Bool {
        guard let x = operation.inputs["x"]?.first?.name,
            let count = constant(operation, "gamma")?.type.elementCount,
            ["gamma", "beta"].allSatisfy({ isVector(operation, $0, count) }),
            let axis = operation.type == "instance_norm" ? 1 : onlyAxis(operation),
            let result = free(operation.outputs[0], axis: axis, count: count)
        else { return false }
        fix(x)
        addVector(operation, index, "gamma", result)
        addVector(operation, index, "beta", result)
        define(operation, result)
        return true
    }

    /// The axis over which an operation runs; nil if there are several.
    private func onlyAxis(_ operation: MILOperation) -> Int? {
        guard let axes = integers(operation, "axes"), axes.count == 1 else { return nil }
        return axes[0] < 0 ? axes[0] + (operation.outputs[0].type.shape?.count ?? 0) : axes[0]
    }

    /// A sum or an extreme: all parts have the factors of the result.
    private mutating func combined(_ operation: MILOperation, _ index: Int) -> Bool {
        let parts = ["x", "y"].map { (name: $0, channels: channels(operation, $0)) }
        let computed = parts.compactMap(\.channels)
        guard let first = computed.first else { return false }
        if computed.count == 2 {
            guard shape(operation, "x") != nil, shape(operation, "x") == shape(operation, "y")
            else { return false }
            unite(computed[0], computed[1])
        } else if let other = parts.first(where: { $0.channels == nil }) {
            guard first.axis == nil || keepsShape(operation, other.name == "x" ? "y" : "x"),
                addOperand(operation, index, other.name, first)
            else { return false }
        }
        define(operation, first)
        return true
    }

    /// A constant operand, of the result's factors.
    private mutating func addOperand(
        _ operation: MILOperation, _ index: Int, _ parameter: String, _ value: Channels
    ) -> Bool {
        guard let shape = constant(operation, parameter)?.type.shape,
            let rank = operation.outputs[0].type.shape?.count
        else { return false }
        guard let axis = value.axis else {
            add(Scaled(operation: index, parameter: parameter, multiplied: [value]))
            return true
        }
        let own = axis - (rank - shape.count)
        guard shape.indices.contains(own), shape[own] == value.ids.count else { return false }
        add(
            Scaled(
                operation: index, parameter: parameter,
                multiplied: [Channels(axis: own, ids: value.ids)]))
        return true
    }

    /// A product with a constant, or with a value that has no factors, such as a gate.
    private mutating func product(_ operation: MILOperation, _ index: Int) -> Bool {
        let (x, y) = (channels(operation, "x"), channels(operation, "y"))
        if operation.type == "mul", let value = x ?? y, x == nil || y == nil,
            scaledByVector(operation, index, x == nil ? "x" : "y", value)
        {
            return true
        }
        let isQuotient = operation.type == "real_div"
        func isPlain(_ channels: Channels?, _ name: String) -> Bool {
            channels.map { $0.ids.allSatisfy(isFixed) } ?? (constant(operation, name) != nil)
        }
        if let x, isPlain(y, "y") {
            guard keepsShape(operation, "x") else { return false }
            define(operation, x)
            return true
        }
        guard !isQuotient, let y, isPlain(x, "x"), keepsShape(operation, "y") else { return false }
        define(operation, y)
        return true
    }

    /// A product with a constant that has one number per channel, through which factors enter and
    /// leave.
    private mutating func scaledByVector(
        _ operation: MILOperation, _ index: Int, _ parameter: String, _ value: Channels
    ) -> Bool {
        guard let own = constant(operation, parameter)?.type.shape,
            let rank = operation.outputs[0].type.shape?.count,
            own.count(where: { $0 > 1 }) == 1, let place = own.firstIndex(where: { $0 > 1 })
        else { return false }
        let axis = place + rank - own.count
        guard
            value.axis == nil
                || (value.axis == axis && value.ids.count == own[place]
                    && keepsShape(operation, parameter == "x" ? "y" : "x")),
            let result = free(operation.outputs[0], axis: axis, count: own[place])
        else { return false }
        add(
            Scaled(
                operation: index, parameter: parameter,
                multiplied: [Channels(axis: place, ids: result.ids)],
                divided: [Channels(axis: value.axis == nil ? nil : place, ids: value.ids)]))
        define(operation, result)
        return true
    }

    private func keepsShape(_ operation: MILOperation, _ parameter: String) -> Bool {
        let shape = shape(operation, parameter)
        return shape != nil && shape == operation.outputs[0].type.shape
    }

    private mutating func concatenated(_ operation: MILOperation) -> Bool {
        let names = (operation.inputs["values"] ?? []).compactMap(\.name)
        let parts = names.compactMap { values[$0] }
        guard !parts.isEmpty, parts.count == operation.inputs["values"]?.count,
            let shape = operation.outputs[0].type.shape,
            var axis = integers(operation, "axis")?.first, !flag(operation, "interleave")
        else { return false }
        if axis < 0 { axis += shape.count }
        guard shape.indices.contains(axis), shape[axis] <= Self.largestCount else { return false }
        if parts.allSatisfy({ $0.axis == axis }) {
            define(operation, Channels(axis: axis, ids: parts.flatMap(\.ids)))
            return true
        }
        let spread = zip(names, parts).map { name, part -> Channels? in
            guard part.axis == nil, let id = part.ids.first, let own = types[name]?.shape,
                own.indices.contains(axis), own[axis] <= Self.largestCount
            else { return part.axis == axis ? part : nil }
            return Channels(axis: axis, ids: [Int](repeating: id, count: own[axis]))
        }
        guard spread.allSatisfy({ $0 != nil }) else { return false }
        define(operation, Channels(axis: axis, ids: spread.compactMap(\.self).flatMap(\.ids)))
        return true
    }

    /// Padding with zeros, or with values of the same channel.
    private mutating func padded(_ operation: MILOperation) -> Bool {
        let value = constantValues.value(of: operation.inputs["constant_val"])
        guard value == nil || (try? value?.floats()) == [0] else { return false }
        return passed(operation)
    }

    /// Whether the result has the channels of `x` along the same axis.
    private func keepsChannels(_ operation: MILOperation) -> Bool {
        guard let x = channels(operation, "x"), let axis = x.axis else {
            return channels(operation, "x") != nil
        }
        let shape = operation.outputs[0].type.shape ?? []
        return shape.indices.contains(axis) && shape[axis] == x.ids.count
            && self.shape(operation, "x")?.count == shape.count
    }

    // MARK: Movements

    private mutating func transposed(_ operation: MILOperation) -> Bool {
        guard var x = channels(operation, "x"), let order = integers(operation, "perm") else {
            return false
        }
        if let axis = x.axis {
            guard let place = order.firstIndex(of: axis) ?? order.firstIndex(of: axis - order.count)
            else { return false }
            x.axis = place
        }
        define(operation, x)
        return true
    }

    /// A reshape that keeps the axis of channels: as many elements before and after it.
    private mutating func reshaped(_ operation: MILOperation) -> Bool {
        guard var x = channels(operation, "x"), let old = shape(operation, "x"),
            let new = operation.outputs[0].type.shape
        else { return false }
        if let axis = x.axis {
            guard old.indices.contains(axis) else { return false }
            let before = old[..<axis].reduce(1, *)
            let place = new.indices.first {
                new[..<$0].reduce(1, *) == before && new[$0] == old[axis]
            }
            guard let place else { return false }
            x.axis = place
        }
        define(operation, x)
        return true
    }

    /// Several channels become one.
    private mutating func shuffled(_ operation: MILOperation) -> Bool {
        guard var x = channels(operation, "x"),
            let factor = integers(operation, "upscale_factor")?.first, factor > 0, factor < 1 << 10
        else { return false }
        if let axis = x.axis {
            let count = factor * factor
            guard axis == 1, x.ids.count.isMultiple(of: count) else { return false }
            let groups = stride(from: 0, to: x.ids.count, by: count).map { x.ids[$0..<$0 + count] }
            for group in groups { for id in group { unite(id, group[group.startIndex]) } }
            x.ids = groups.map { $0[$0.startIndex] }
        }
        define(operation, x)
        return true
    }
}
