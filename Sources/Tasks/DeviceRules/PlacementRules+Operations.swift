import RetintMLPackage

/// Rules for other operation types.
extension PlacementRule {
    static let operationTypes = [
        PlacementRule(
            "recurrent", "recurrent layers", threshold: "lstm, gru, rnn", .refused, .documented,
            sources: [
                "apple/coremltools, issue 1780 (a maintainer)", PlacementSource.hollance,
            ],
            advice: "Use convolutions over the sequence.",
            check: .operation { operation in
                ["lstm", "gru", "rnn"].contains(operation.type) ? "is recurrent" : nil
            }),
        PlacementRule(
            "gather", "indexing with computed indices",
            threshold: "gather, gather_nd, gather_along_axis, topk", .refused, .reported,
            sources: [
                "apple/coremltools, issue 1103", "roboflow/rf-detr, pull request 1495 (measured)",
                PlacementSource.hollance,
            ],
            advice: "Slice at constant indices, or index outside the model.",
            check: .operation { operation in
                let types = ["gather", "gather_nd", "gather_along_axis", "topk"]
                return types.contains(operation.type) ? "indexes elements" : nil
            }),
        PlacementRule(
            "softmax-axis", "the axis of a softmax of rank 3 or more",
            threshold: "any axis but that of channels (1)", .slow, .documented,
            sources: [PlacementSource.apple],
            advice: "Lay tensors out so that softmax runs over channels.",
            check: .operation { operation in
                guard operation.type == "softmax", let rank = operation.output?.rank, rank >= 3
                else { return nil }
                let given = operation.integers("axis")?.first ?? -1
                let axis = given < 0 ? given + rank : given
                return axis == 1 ? nil : "runs over axis \(axis) of \(rank)"
            }),
        PlacementRule(
            "broadcast", "arithmetic of an image and one value per channel, both computed",
            threshold: "C × H × W with C × 1 × 1", .refused, .contradicted,
            sources: [
                "\(PlacementSource.kernelLog) (refused)",
                "\(PlacementSource.apple) (does not mention it)",
            ],
            advice: "Measure; a constant per channel is always supported.",
            check: .operation { operation in
                guard arithmetic.contains(operation.type), operation.isComputed("x"),
                    operation.isComputed("y"), let x = operation.input("x")?.trailing(2),
                    let y = operation.input("y")?.trailing(2),
                    (x == [1, 1]) != (y == [1, 1])
                else { return nil }
                return "combines \(x.times) with \(y.times)"
            }),
        PlacementRule(
            "linear", "products with a weight matrix", threshold: "linear", .slow, .documented,
            sources: [PlacementSource.apple],
            advice: "Write them as convolutions of 1 × 1.",
            check: .operation { $0.type == "linear" ? "is not a convolution" : nil }),
        PlacementRule(
            "width-copy", "moving the last dimension",
            threshold: "transpose or reshape that changes it", .slow, .documented,
            sources: [PlacementSource.apple],
            advice: "Keep height and width where they are: such an operation rewrites the "
                + "entire tensor.",
            check: .operation { operation in
                switch operation.type {
                case "transpose":
                    guard let order = operation.integers("perm"), let last = order.last else {
                        return nil
                    }
                    let isMoved = last != order.count - 1 && last != -1
                    return isMoved ? "moves the last dimension" : nil
                case "reshape":
                    guard let before = operation.input("x")?.trailing(1),
                        let after = operation.output?.trailing(1), before != after
                    else { return nil }
                    return "changes the width from \(before.times) to \(after.times)"
                default: return nil
                }
            }),
    ]

    private static let arithmetic: Set<String> = [
        "add", "sub", "mul", "real_div", "maximum", "minimum",
    ]
}
