import RetintMLPackage

/// Cases in which a device is known to compute other values than the program specifies, without an
/// error.
extension PlacementRule {
    static let wrongNumbers = [
        PlacementRule(
            "softplus", "softplus in float16, as an operation or as log(1 + exp(x))",
            threshold: "values above 10.4", .wrong, .reported,
            sources: [
                "apple/coremltools, issue 2687 (0 above 10.4, measured on an M4)",
                "apple/coremltools, issue 2359 (Mish, which contains it)",
                "apple/coreai-torch, issues 21 and 106 (the same in .aimodel files)",
            ],
            advice: "Write max(x, 0) + log(1 + exp(-|x|)), whose exponential is at most 1.",
            check: .operation { operation in
                guard operation.isHalf else { return nil }
                if ["softplus", "softplus_parametric"].contains(operation.type) {
                    return "is a softplus"
                }
                return operation.softplusInput == nil ? nil : "is log(1 + exp(x))"
            }, rewrite: stableSoftplus),
        PlacementRule(
            "log-sum-exp",
            "log-sum-exp in float16, as an operation or as log(sum(exp(x)))",
            threshold: "values above 7.6", .wrong, .reported,
            sources: ["apple/coreai-torch, issues 21 and 106"],
            advice: "Subtract the largest value first and add it to the result.",
            check: .operation { operation in
                guard operation.isHalf, operation.logSumExp != nil else { return nil }
                return "is the logarithm of a sum of exponentials"
            }, rewrite: stableLogSumExp),
        PlacementRule(
            "matrix-hard-swish", "hard swish of a matrix product in float16",
            threshold: "rank 2", .wrong, .reported,
            sources: [
                "apple/coreai-torch, issue 51 (0.2 off on the Neural Engine, 0.003 without it)"
            ],
            advice: "Give the product rank 4, with leading dimensions of 1: it is then computed "
                + "correctly.",
            check: .operation { operation in
                operation.matrixUnderHardSwish == nil ? nil : "follows a matrix product of rank 2"
            }),
        PlacementRule(
            "convolution-hard-swish", "hard swish or hard sigmoid of a convolution in float16",
            threshold: "any; seen in MobileNetV3", .wrong, .reported,
            sources: [
                "apple/coremltools, issue 2625 (0.19 to 0.26 off with all units, 0.06 to 0.09 "
                    + "on the CPU; not isolated to one operation)"
            ],
            advice: "Compare the outputs of CPU_ONLY and ALL on the device. If they differ, keep "
                + "these operations in float32 (--keep-float32-types sigmoid_hard) or train with "
                + "relu6.",
            check: .operation { operation in
                guard operation.isHalf, let input = operation.hardSwishInput,
                    ["conv", "conv_transpose", "batch_norm"].contains(input.type)
                else { return nil }
                return "follows a convolution"
            }),
        PlacementRule(
            "transposed-padding", "the padding of a transposed convolution",
            threshold:
                "an output shape that the padding does not imply, or uneven padding in float16",
            .wrong, .reported,
            sources: [
                "apple/coremltools, issue 2281 (CPU and other units disagree about such a shape)",
                "apple/coremltools, issue 2324 (shifted in float16; macOS 14.3, M1)",
                "microsoft/onnxruntime, pull request 21416 (excludes both for this reason)",
            ],
            advice: "Compute the whole result without padding, and crop it afterwards.",
            check: .operation { operation in
                guard let extent = TransposedExtent(operation) else { return nil }
                if extent.isOther { return "states another shape than follows from its padding" }
                return operation.isHalf && extent.isUneven ? "has uneven padding" : nil
            }, rewrite: croppedConvolution),
        PlacementRule(
            "largest-index", "the index of the largest value", threshold: "reduce_argmax", .wrong,
            .reported,
            sources: ["apple/coreai-torch, issue 116 (iPhone 17 Pro; right on the CPU)"],
            advice: "Return the values and find the index in the app.",
            check: .operation { operation in
                ["reduce_argmax", "reduce_argmin"].contains(operation.type)
                    ? "returns an index" : nil
            }),
        PlacementRule(
            "gather-of-top", "gathering at the indices of the largest values in float16",
            threshold: "gather after topk", .wrong, .reported,
            sources: [
                "apple/coreai-torch, issue 115 (zeros on an iPhone 17 Pro; right in float32, on "
                    + "the CPU and on the GPU)"
            ],
            advice: "Return all values and select in the app, or keep the program in float32.",
            check: .operation { operation in
                guard operation.isHalf, operation.type.hasPrefix("gather"),
                    operation.producer("indices", through: copies)?.type == "topk"
                else { return nil }
                return "gathers the largest values"
            }),
        PlacementRule(
            "attention", "attention in float16",
            threshold: "a softmax between two matrix products with computed operands", .wrong,
            .reported,
            sources: [
                "ultralytics/ultralytics, pull request 24999 (RT-DETR: mAP 0.49 on the Neural "
                    + "Engine alone, 0.71 with all units)",
                "microsoft/onnxruntime, issue 32569 (macOS 15; right on macOS 26)",
            ],
            advice: "Compare CPU_AND_NE with ALL on the oldest system that you support.",
            check: .operation { operation in
                guard operation.isHalf, operation.type == "matmul", operation.isComputed("y"),
                    operation.producer("x", through: copies)?.type == "softmax"
                else { return nil }
                return "multiplies a softmax by a computed matrix"
            }),
    ]

    /// Operations that pass values on unchanged.
    fileprivate static let copies: Set = [
        "cast", "identity", "reshape", "transpose", "expand_dims", "squeeze",
    ]
}

extension PlacedOperation {
    /// The x of log(1 + exp(x)); nil for other operations.
    var softplusInput: MILArgument? {
        guard type == "log", let sum = producer("x"), sum.type == "add" else { return nil }
        for (one, other) in [("x", "y"), ("y", "x")] {
            guard (try? sum.constant(one)?.floats()) == [1], let exponential = sum.producer(other),
                exponential.type == "exp", !exponential.isOfNegativeMagnitude
            else { continue }
            return exponential.operation.inputs["x"]?.first
        }
        return nil
    }

    /// What is summed and over which axes in a log-sum-exp that does not subtract the largest
    /// value; nil for other operations.
    var logSumExp: (x: MILArgument, sum: PlacedOperation)? {
        if type == "reduce_log_sum_exp" {
            return operation.inputs["x"]?.first.map { ($0, self) }
        }
        guard type == "log", let sum = producer("x"), sum.type == "reduce_sum",
            let exponential = sum.producer("x"), exponential.type == "exp",
            exponential.producer("x")?.subtractsLargest != true
        else { return nil }
        return exponential.operation.inputs["x"]?.first.map { ($0, sum) }
    }

    private var subtractsLargest: Bool {
        type == "sub" && producer("y", through: PlacementRule.copies)?.type == "reduce_max"
    }

    /// Whether the operation is of -|x|, whose exponential is at most 1.
    private var isOfNegativeMagnitude: Bool {
        guard let product = producer("x"), product.type == "mul" else { return false }
        return product.producer("x")?.type == "abs"
    }

    /// Whether the result is float16.
    var isHalf: Bool { output?.dataType == .float16 }

    /// The input of a hard sigmoid, whether it is one operation or relu6(x + 3); nil for
    /// other operations.
    var hardSwishInput: PlacedOperation? {
        switch type {
        case "sigmoid_hard": return producer("x")
        case "relu6", "clip":
            guard let sum = producer("x"), sum.type == "add" else { return nil }
            return sum.producer("x") ?? sum.producer("y")
        default: return nil
        }
    }
}
