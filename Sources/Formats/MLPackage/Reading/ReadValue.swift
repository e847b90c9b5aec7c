import RetintCoreMLProto

extension MILNamedType {
    init(_ proto: ProtoNamedValueType) throws {
        name = proto.name
        type = try at("value \"\(proto.name)\"") { try MILTensorType(proto.type) }
    }
}

extension MILTensorType {
    init(_ proto: ProtoValueType) throws {
        guard case .tensorType(let tensor) = proto.type else {
            throw BrokenRule(
                "", "only tensors are supported, not lists, tuples, dictionaries or states")
        }
        guard let dataType = MILDataType(rawValue: tensor.dataType.rawValue) else {
            throw BrokenRule("", "the type number \(tensor.dataType.rawValue) is not known")
        }
        let count = tensor.dimensions.count
        try require(
            tensor.rank == count, "", "a rank of \(tensor.rank) is stated with \(count) dimensions")
        self.dataType = dataType
        dimensions = try tensor.dimensions.map(Self.dimension)
    }

    private static func dimension(_ proto: ProtoDimension) throws -> Int? {
        switch proto.dimension {
        case .constant(let constant):
            guard let size = Int(exactly: constant.size) else {
                throw BrokenRule("", "a dimension of \(constant.size) is too large")
            }
            return size
        case .unknown(let unknown):
            try require(!unknown.variadic, "", "a rank that is not fixed is not supported")
            return nil
        case nil: throw BrokenRule("", "a dimension is neither a number nor unknown")
        }
    }
}

extension MILValue {
    /// A constant; one in the weight file is checked against its record there.
    init(_ proto: ProtoValue, weights: WeightFiles) throws {
        let type = try MILTensorType(proto.type)
        self.type = type
        switch proto.value {
        case .immediateValue(let immediate):
            guard case .tensor(let tensor) = immediate.value else {
                throw BrokenRule("", "a constant of type \(type) has to be a tensor")
            }
            content = try Content(tensor, type.dataType)
        case .blobFileValue(let reference):
            content = .blob(
                try weights.blob(file: reference.fileName, offset: reference.offset, type: type))
        case nil: throw BrokenRule("", "a constant has no value")
        }
    }
}

extension MILValue.Content {
    init(_ proto: ProtoTensorValue, _ dataType: MILDataType) throws {
        switch proto.value {
        case .floats(let list): self = .floats(list.values)
        case .ints(let list): self = .integers(list.values)
        case .bools(let list): self = .bools(list.values)
        case .strings(let list): self = .strings(list.values)
        case .longInts(let list): self = .longIntegers(list.values)
        case .doubles(let list): self = .doubles(list.values)
        case .bytes(let list): self = try Self.bytes([UInt8](list.values), dataType)
        case nil: throw BrokenRule("", "a constant has no elements")
        }
    }

    private static func bytes(_ bytes: [UInt8], _ dataType: MILDataType) throws -> Self {
        switch dataType.form {
        case .bytes: return .bytes(bytes)
        case .halfs:
            try require(bytes.count % 2 == 0, "", "\(bytes.count) bytes are not float16 elements")
            return .halfs(LittleEndian.halfs(bytes))
        default: throw BrokenRule("", "elements of type \(dataType) must not be stored as bytes")
        }
    }
}
