import RetintGraph
import RetintMLPackage

/// `select` as products with 0 and 1; infinite constants are refused, because they would give NaN.
enum Selection: MILRaisable {
    static let milTypes = ["select"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        for parameter in ["a", "b"] {
            let numbers = try operation.knownConstant(parameter)?.floats() ?? []
            guard numbers.allSatisfy(\.isFinite) else {
                throw operation.error("its parameter \(parameter) has to be finite")
            }
        }
        let isFirst = try operation.tensor("cond")
        return [
            isFirst * (try operation.tensor("a")) + (1 - isFirst) * (try operation.tensor("b"))
        ]
    }
}

extension RaisedOperation {
    /// A parameter's value where it is a float constant.
    fileprivate func knownConstant(_ parameter: String) throws -> MILValue? {
        let value: MILValue? =
            switch operation.inputs[parameter]?.first {
            case .value(let value): value
            case .name(let name): values.constant(name)
            case nil: nil
            }
        return value.flatMap { $0.type.dataType.isFloat ? $0 : nil }
    }
}
