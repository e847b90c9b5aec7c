import RetintGraph

extension OperationTable {
    static let arithmetic: [OperationCase] = [
        OperationCase("add", [2, 3, 4, 5], [2, 3, 4, 5], mil: ["add"]) { $0[0] + $0[1] },
        OperationCase("add rank 0 right", [2, 3, 4, 5], []) { $0[0] + $0[1] },
        OperationCase("add rank 0 left", [], [2, 3, 4, 5]) { $0[0] + $0[1] },
        OperationCase("add two of rank 0", [], []) { $0[0] + $0[1] },
        OperationCase("add row", [2, 3, 4, 5], [5]) { $0[0] + $0[1] },
        OperationCase("add column", [2, 3, 4, 5], [4, 1]) { $0[0] + $0[1] },
        OperationCase("add channel", [2, 17, 4, 5], [1, 17, 1, 1]) { $0[0] + $0[1] },
        OperationCase("add channel of rank 3 left", [17, 1, 1], [2, 17, 4, 5]) { $0[0] + $0[1] },
        OperationCase("add sample", [3, 2, 4, 5], [3, 1, 1, 1]) { $0[0] + $0[1] },
        OperationCase("add both repeated", [2, 1, 4, 1], [1, 3, 1, 5]) { $0[0] + $0[1] },
        OperationCase("add rank 5 and 2", [2, 1, 3, 2, 4], [2, 1]) { $0[0] + $0[1] },
        OperationCase("add rank 4 and 5", [3, 2, 1, 4], [2, 1, 2, 5, 4]) { $0[0] + $0[1] },
        OperationCase("add rank 1 repeated", [17], [1]) { $0[0] + $0[1] },
        OperationCase("add matrix and column", [3, 7], [3, 1]) { $0[0] + $0[1] },
        OperationCase("add outer", [7, 1], [5]) { $0[0] + $0[1] },
        OperationCase("sub", [3, 1, 5], [2, 1], mil: ["sub"]) { $0[0] - $0[1] },
        OperationCase("sub from a number", [2, 3, 4, 1], mil: ["sub"]) { 3 - $0[0] },
        OperationCase("mul", [2, 3, 4, 5], [3, 1, 1], mil: ["mul"]) { $0[0] * $0[1] },
        OperationCase("mul gate", [2, 7, 3, 5], [2, 7, 1, 1]) { $0[0] * $0[1] },
        OperationCase("mul mask", [2, 7, 3, 5], [2, 1, 3, 5]) { $0[0] * $0[1] },
        OperationCase("mul left smaller", [1, 5], [2, 3, 4, 1]) { $0[0] * $0[1] },
        OperationCase("mul by itself", [3, 5]) { $0[0] * $0[0] },
        OperationCase("mul by a number", [2, 3, 4, 5]) { $0[0] * -1.5 },
        OperationCase("mul channels of 131k", [2, 64, 33, 31], [64, 1, 1]) { $0[0] * $0[1] },
        OperationCase("mul pixels of 131k", [2, 64, 33, 31], [2, 1, 33, 31]) { $0[0] * $0[1] },
        OperationCase(
            "div", [2, 3, 4, 5], .positive([3, 1, 5]), mil: ["real_div"]
        ) { $0[0] / $0[1] },
        OperationCase("div left smaller", .positive([3, 1, 1]), .positive([2, 3, 4, 5])) {
            $0[0] / $0[1]
        },
        OperationCase("div a number", .positive([3, 4])) { 2 / $0[0] },
        OperationCase("pow", .positive([2, 3, 4, 5]), [4, 1], mil: ["pow"]) { pow($0[0], $0[1]) },
        OperationCase("pow exponent larger", .positive([3, 1]), [2, 3, 5]) { pow($0[0], $0[1]) },
        OperationCase("pow 2", .integers([2, 5, 7])) { pow($0[0], 2) },
        OperationCase("pow 0.5", .positive([17])) { pow($0[0], 0.5) },
        OperationCase("pow -3", .positive([2, 3, 1, 5])) { pow($0[0], -3) },
        OperationCase("pow exponent 0", .integers([37])) { pow($0[0], 0) },
        OperationCase("pow base 0", .integers([5, 7]), .positive([7])) {
            pow(relu($0[0]), $0[1] + 1)
        },
        OperationCase(
            "maximum", [2, 3, 4, 5], [3, 4, 1], mil: ["maximum"]
        ) { maximum($0[0], $0[1]) },
        OperationCase("maximum ties", .integers([2, 17, 5, 3]), .integers([17, 1, 1])) {
            maximum($0[0], $0[1])
        },
        OperationCase("minimum", [4, 1], [2, 3, 4, 5], mil: ["minimum"]) { minimum($0[0], $0[1]) },
        OperationCase("minimum ties", .integers([17, 5]), .integers([5])) { minimum($0[0], $0[1]) },
        OperationCase(
            "gt", .integers([2, 5, 4, 3]), .integers([5, 1, 3]), mil: ["greater", "cast"]
        ) {
            greater($0[0], $0[1])
        },
        OperationCase("gt a number", .integers([3, 7])) { greater($0[0], 2) },
        OperationCase("number gt", .integers([3, 7])) { greater(2, $0[0]) },
        OperationCase(
            "ge", .integers([2, 5, 4, 3]), .integers([2, 1, 4, 3]), mil: ["greater_equal", "cast"]
        ) {
            greaterOrEqual($0[0], $0[1])
        },
        OperationCase(
            "eq", .integers([2, 5, 4, 3]), .integers([3]), mil: ["equal", "cast"]
        ) { equal($0[0], $0[1]) },
        OperationCase(
            "select", .integers([3, 5]), [3, 5], [3, 5],
            checks: .unrecorded, mil: ["greater", "select", "sub", "greater", "select", "add"]
        ) { select($0[0], $0[1], $0[2]) },
        OperationCase(
            "select spread", .integers([3, 5]), [5], [3, 1], checks: .unrecorded,
            mil: [
                "greater", "cast", "sub", "add", "select", "sub", "greater", "cast", "sub", "add",
                "select", "add",
            ]
        ) { select($0[0], $0[1], $0[2]) },
        OperationCase("gt is flat", [3, 5], [3, 5]) { greater($0[0], $0[1]) },
        OperationCase("broadcast_to", [3, 1]) { $0[0].broadcast(to: [2, 3, 4]) },
        OperationCase("broadcast_to from rank 0", []) { $0[0].broadcast(to: [2, 3]) },
        OperationCase("broadcast_to channels", [1, 17, 1, 1]) {
            $0[0].broadcast(to: [2, 17, 3, 5])
        },
        OperationCase("broadcast_to rank 5", [4, 1, 3]) { $0[0].broadcast(to: [2, 1, 4, 5, 3]) },
    ]
}
