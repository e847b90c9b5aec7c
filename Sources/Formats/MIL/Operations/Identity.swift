import RetintGraph
import RetintMLPackage

/// Operations that only rename or cast a value.
enum Identity: MILRaisable {
    static let milTypes = ["identity", "cast"]

    static func raise(_ operation: RaisedOperation) throws -> [Tensor] {
        if operation.type == "cast" {
            let word = try operation.string("dtype", default: "")
            guard let type = MILDataType.castTypes.first(where: { "\($0)" == word }) else {
                throw operation.error("a cast to \"\(word)\" is not supported")
            }
            return [type.converted(try operation.tensor("x"))]
        }
        return [try operation.tensor("x")]
    }
}

extension MILDataType {
    /// The types of computed values that a program may cast to.
    fileprivate static let castTypes: [MILDataType] = [
        .float32, .float16, .int8, .uint8, .int16, .uint16, .int32, .bool,
    ]

    /// A value converted to the type: integers without a fraction, within the type's range.
    /// Rounding to float16 is up to the caller.
    func converted(_ x: Tensor) -> Tensor {
        let limits: (low: Float, high: Float)
        switch self {
        case .int8: limits = (-128, 127)
        case .uint8: limits = (0, 255)
        case .int16: limits = (-32768, 32767)
        case .uint16: limits = (0, 65535)
        case .int32: limits = (-0x1p31, 0x1p31)
        case .bool: return 1 - equal(x, x.scalar(0))
        default: return x
        }
        let whole = floor(relu(x)) - floor(relu(-x))
        return clip(whole, min: limits.low, max: limits.high)
    }
}
