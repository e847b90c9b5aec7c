/// Comparisons, logic, and the choice between two values.
enum Comparisons: OperationFamily {
    static let forms: [String: Form] = [
        "greater": Elementwise.binary("Greater"), "less": Elementwise.binary("Less"),
        "equal": Elementwise.binary("Equal"),
        "not_equal": { try $0.negated("Equal") },
        "greater_equal": { try $0.orEqual("GreaterOrEqual", opposite: "Less") },
        "less_equal": { try $0.orEqual("LessOrEqual", opposite: "Greater") },
        "logical_and": Elementwise.binary("And"), "logical_or": Elementwise.binary("Or"),
        "logical_not": Elementwise.unary("Not"),
        "select": {
            $0.result("Where", [try $0.tensor("cond"), try $0.tensor("a"), try $0.tensor("b")])
        },
    ]
}

extension TranslatedOperation {
    fileprivate func negated(_ type: String) throws {
        result("Not", [step(type, [try tensor("x"), try tensor("y")])])
    }

    /// Before opset 12, as the negation of the opposite.
    fileprivate func orEqual(_ type: String, opposite: String) throws {
        opset >= 12 ? try Elementwise.binary(type)(self) : try negated(opposite)
    }
}
