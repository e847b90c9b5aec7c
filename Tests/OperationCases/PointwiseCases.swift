import RetintGraph

extension OperationTable {
    static let pointwise: [OperationCase] = [
        OperationCase("neg", [3, 5], mil: ["mul"]) { -$0[0] },
        OperationCase("exp", [2, 3, 4, 5], mil: ["exp"]) { exp($0[0]) },
        OperationCase("exp rank 0", []) { exp($0[0]) },
        OperationCase("erf", .wide([2, 17, 5]), mil: ["erf"]) { erf($0[0]) },
        OperationCase("log", .positive([7]), mil: ["log"]) { log($0[0]) },
        OperationCase("sqrt", .positive([1, 17, 3, 2]), mil: ["sqrt"]) { sqrt($0[0]) },
        OperationCase("abs", [2, 3, 5], mil: ["abs"]) { abs($0[0]) },
        OperationCase("abs at 0", .integers([2, 17, 5])) { abs($0[0]) },
        OperationCase("floor", .wide([2, 17, 5])) { floor($0[0]) },
        OperationCase("round", .wide([2, 17, 5])) { round($0[0]) },
        OperationCase("round halves", .integers([2, 17, 5])) { round($0[0] * 0.5) },
        OperationCase("sin", .wide([2, 3, 5])) { sin($0[0]) },
        OperationCase("cos", .wide([2, 3, 5])) { cos($0[0]) },
        OperationCase("atan", .wide([2, 3, 5])) { atan($0[0]) },
        OperationCase("clip", [4, 9], mil: ["clip"]) { clip($0[0], min: -0.5, max: 0.25) },
        OperationCase("clip at its limits", .integers([2, 5, 4, 3])) {
            clip($0[0], min: -2, max: 3)
        },
        OperationCase("clip above", .wide([31])) { clip($0[0], min: -.infinity, max: 1) },
        OperationCase("clip below", .wide([31]), mil: ["clip"]) {
            clip($0[0], min: 0, max: .infinity)
        },
        OperationCase("relu", [2, 17, 3, 5], mil: ["relu"]) { relu($0[0]) },
        OperationCase("relu at 0", .integers([2, 5, 7, 3])) { relu($0[0]) },
        OperationCase("relu of 131k", [2, 64, 33, 31]) { relu($0[0]) },
        OperationCase(
            "leaky_relu", [2, 7, 3, 5], mil: ["leaky_relu"]
        ) { leakyRelu($0[0], negativeSlope: 0.2) },
        OperationCase("leaky_relu default slope", [3, 37]) { leakyRelu($0[0]) },
        OperationCase("leaky_relu at 0", .integers([41])) { leakyRelu($0[0]) },
        OperationCase("leaky_relu turned around", .wide([41])) {
            leakyRelu($0[0], negativeSlope: -0.5)
        },
        OperationCase("relu6", .wide([2, 5, 3, 7]), mil: ["relu6"]) { relu6($0[0]) },
        OperationCase("relu6 at 0 and 6", .integers([2, 5, 3, 7])) { relu6($0[0]) },
        OperationCase(
            "hardswish", .wide([2, 5, 3, 7]), mil: ["sigmoid_hard", "mul"]
        ) { hardSwish($0[0]) },
        OperationCase("hardswish at -3 and 3", .integers([2, 5, 3, 7])) { hardSwish($0[0]) },
        OperationCase("sigmoid", .wide([2, 5, 3, 7]), mil: ["sigmoid"]) { sigmoid($0[0]) },
        OperationCase("sigmoid of 131k", [2, 64, 33, 31]) { sigmoid($0[0]) },
        OperationCase("tanh", .wide([2, 3, 1, 17]), mil: ["tanh"]) { tanh($0[0]) },
        OperationCase("tanh rank 5", [2, 1, 3, 2, 5]) { tanh($0[0]) },
        OperationCase("chain", .positive([3, 1, 4, 1])) { exp(-sqrt(log($0[0] + 1))) * $0[0] },
    ]
}
