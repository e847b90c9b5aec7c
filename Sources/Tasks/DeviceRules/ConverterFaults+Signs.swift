import RetintMLPackage

extension ConverterFault {
    /// What a fault looks like in a program.
    struct Sign: Sendable {
        let certainty: ConverterFinding.Certainty
        let matches: @Sendable (PlacedOperation) -> Bool

        /// A form that only the fault produces.
        static func present(_ matches: @escaping @Sendable (PlacedOperation) -> Bool) -> Sign {
            Sign(certainty: .present, matches: matches)
        }

        /// A form that right programs have, too.
        static func possible(_ matches: @escaping @Sendable (PlacedOperation) -> Bool) -> Sign {
            Sign(certainty: .possible, matches: matches)
        }
    }

    /// By the faults' identifiers; faults that leave no trace in a program are missing.
    static let signs: [String: Sign] = [
        "variance-correction": .possible(\.scalesVariance),
        "variance-default": .possible { operation in
            operation.isVariance && !operation.isOfGroupNorm
                && !operation.users.contains(where: \.scalesVariance)
        },
        "softplus-threshold": .possible { $0.type.hasPrefix("softplus") },
        "instance-norm-statistics": .possible { $0.type == "instance_norm" },
        "log-softmax": .present { $0.type == "log" && $0.producer("x")?.type == "softmax" },
        "logcumsumexp": .present { operation in
            guard operation.type == "log", let sum = operation.producer("x") else { return false }
            return sum.type == "cumsum" && sum.producer("x")?.type == "exp"
        },
        "boolean-reduction": .present { operation in
            guard operation.type == "cast", operation.output?.dataType == .bool,
                let reduction = operation.producer("x"),
                ["reduce_min", "reduce_max"].contains(reduction.type),
                reduction.output?.dataType == .int32
            else { return false }
            guard let cast = reduction.producer("x"), cast.type == "cast" else { return true }
            return cast.input("x")?.dataType != .bool
        },
        "atan2-axis": .present { operation in
            guard operation.type == "atan", let ratio = operation.producer("x"),
                ratio.type == "real_div", let denominator = ratio.producer("y")
            else { return false }
            return denominator.type == "add" && denominator.producer("y")?.type == "mul"
        },
        "reciprocal-epsilon": .present { operation in
            guard operation.type == "inverse" else { return false }
            let epsilon = (try? operation.constant("epsilon")?.floats())?.first
            return epsilon.map { $0 >= 1e-5 } ?? true
        },
        "rms-norm-epsilon": .present { operation in
            guard operation.type == "real_div", let product = operation.producer("y"),
                product.type == "mul", let largest = product.producer("y")
            else { return false }
            return largest.type == "reduce_max" && largest.producer("x")?.type == "abs"
                && product.producer("x")?.type == "sqrt"
        },
        "division-by-one": .present { operation in
            guard operation.type == "sub", let name = operation.operation.inputs["x"]?.first?.name
            else { return false }
            return operation.operation.inputs["y"]?.first?.name == name
        },
        "triangle-infinite": .present { operation in
            operation.type == "sub" && operation.producer("y")?.type == "band_part"
        },
        "antialias": .possible { operation in
            guard ["resize_bilinear", "upsample_bilinear", "resize"].contains(operation.type),
                let from = operation.input("x")?.trailing(2), let to = operation.output?.trailing(2)
            else { return false }
            return zip(from, to).contains { $0 > $1 }
        },
    ]
}

extension PlacedOperation {
    /// Whether the operation averages squares of differences from a mean.
    fileprivate var isVariance: Bool {
        guard type == "reduce_mean", let square = producer("x"), square.type == "square",
            let difference = square.producer("x"), difference.type == "sub"
        else { return false }
        return difference.producer("y")?.type == "reduce_mean"
    }

    /// Whether the operation is the variance of a group normalization, which is biased: of channels
    /// that were split into groups, all of whose axes it averages.
    fileprivate var isOfGroupNorm: Bool {
        guard let difference = producer("x")?.producer("x"),
            let split = difference.producer("x"), split.type == "reshape",
            let whole = split.input("x")?.shape, let groups = split.output?.shape,
            groups.count == whole.count + 1, groups.count > 2,
            whole.prefix(1) + whole.dropFirst(2) == groups.prefix(1) + groups.dropFirst(3),
            let axes = integers("axes")
        else { return false }
        return Set(axes) == Set(2..<groups.count)
            && difference.users.contains { $0.type == "real_div" }
    }

    /// Whether the operation multiplies a variance by a constant above 1.
    fileprivate var scalesVariance: Bool {
        guard type == "mul", producer("x")?.isVariance == true,
            let factor = (try? constant("y")?.floats())?.first
        else { return false }
        return factor > 1
    }
}
