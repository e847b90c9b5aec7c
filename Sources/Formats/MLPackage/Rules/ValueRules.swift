/// The rules for types and constants.
enum ValueRules {
    /// Checks that the rank and the size are within bounds.
    static func check(_ type: MILTensorType) throws {
        try require(
            type.rank <= MILTensorType.maximumRank, "",
            "a rank of \(type.rank) is above \(MILTensorType.maximumRank)")
        let known: [Int] = type.dimensions.compactMap { $0 }
        let count = MILTensorType(type.dataType, known).elementCount
        try require(count != nil, "", "the shape \(type) is too large")
    }

    /// Checks that a constant has the number of elements and the representation of its type.
    static func check(_ value: MILValue) throws {
        try check(value.type)
        guard let count = value.type.elementCount else {
            throw BrokenRule("", "a constant of type \(value.type) needs known dimensions")
        }
        if case .blob(let blob) = value.content {
            try require(
                blob.byteCount == value.type.byteCount, "",
                "\(blob.byteCount) bytes in the weight file do not fit \(value.type)")
            return
        }
        let (form, actual) = value.content.form
        try require(form == value.type.dataType.form, "", "\(form) cannot be of type \(value.type)")
        let expected = form == .bytes ? value.type.byteCount : count
        try require(actual == expected, "", "\(actual) \(form) do not fit \(value.type)")
        try checkRange(value)
    }

    private static func checkRange(_ value: MILValue) throws {
        guard case .integers(let numbers) = value.content else { return }
        let range: ClosedRange<Int32>
        switch value.type.dataType {
        case .int16: range = Int32(Int16.min)...Int32(Int16.max)
        case .uint16: range = 0...Int32(UInt16.max)
        default: return
        }
        try require(
            numbers.allSatisfy(range.contains), "", "an element does not fit \(value.type.dataType)"
        )
    }
}

/// How elements are represented in memory and in a model file.
enum ElementForm: String, CustomStringConvertible {
    case floats, halfs, doubles, integers, longIntegers, bools, strings, bytes

    var description: String { self == .longIntegers ? "long integers" : rawValue }
}

extension MILDataType {
    /// The representation of elements of this type.
    var form: ElementForm {
        switch self {
        case .float32: .floats
        case .float16: .halfs
        case .float64: .doubles
        case .int16, .uint16, .int32: .integers
        case .int64, .uint64: .longIntegers
        case .bool: .bools
        case .string: .strings
        default: .bytes
        }
    }
}

extension MILValue.Content {
    /// The representation and the number of elements, or of bytes.
    var form: (ElementForm, Int) {
        switch self {
        case .floats(let values): (.floats, values.count)
        case .halfs(let values): (.halfs, values.count)
        case .doubles(let values): (.doubles, values.count)
        case .integers(let values): (.integers, values.count)
        case .longIntegers(let values): (.longIntegers, values.count)
        case .bools(let values): (.bools, values.count)
        case .strings(let values): (.strings, values.count)
        case .bytes(let values): (.bytes, values.count)
        case .blob(let blob): (.bytes, blob.byteCount)
        }
    }
}
