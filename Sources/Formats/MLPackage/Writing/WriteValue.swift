import Foundation
import RetintCoreMLProto

extension ProtoNamedValueType {
    init(_ value: MILNamedType) {
        self.init()
        name = value.name
        type = ProtoValueType(value.type)
    }
}

extension ProtoValueType {
    init(_ type: MILTensorType) {
        self.init()
        var tensor = ProtoTensorType()
        tensor.dataType = ProtoDataType(rawValue: type.dataType.rawValue) ?? .unusedType
        tensor.rank = Int64(type.rank)
        tensor.dimensions = type.dimensions.map(ProtoDimension.init)
        tensorType = tensor
    }
}

extension ProtoDimension {
    init(_ size: Int?) {
        self.init()
        if let size {
            constant.size = UInt64(size)
        } else {
            unknown = UnknownDimension()
        }
    }
}

extension ProtoValue {
    /// Arrays of at least this many elements go to the weight file, as in Apple's own writer.
    private static var minimumBlobCount: Int { 10 }

    /// A constant, in the weight file if there is one and it belongs there. Masks with infinities
    /// stay in the program: readers take the weight file for damaged that has any.
    init(_ value: MILValue, weights: WeightSink?) throws {
        self.init()
        type = ProtoValueType(value.type)
        let isLong = (value.type.elementCount ?? 0) >= Self.minimumBlobCount
        if let weights, isLong, value.type.dataType.belongsInWeightFile,
            try !value.hasInfinities()
        {
            blobFileValue.fileName = "@model_path/weights/weight.bin"
            blobFileValue.offset = UInt64(try weights.append(value))
        } else {
            immediateValue.tensor = ProtoTensorValue(try value.loaded())
        }
    }
}

extension ProtoTensorValue {
    /// The elements of a value that is in memory.
    init(_ value: MILValue) {
        self.init()
        switch value.content {
        case .floats(let values): floats.values = values
        case .integers(let values): ints.values = values
        case .longIntegers(let values): longInts.values = values
        case .doubles(let values): doubles.values = values
        case .bools(let values): bools.values = values
        case .strings(let values): strings.values = values
        case .halfs(let values): bytes.values = Data(LittleEndian.bytes(values))
        case .bytes(let values): bytes.values = Data(values)
        case .blob: break
        }
    }
}

extension MILValue {
    /// - Throws: ``MLPackageError`` if there is NaN: such weights make a model that returns only
    ///   NaN, which is not worth writing.
    fileprivate func hasInfinities() throws -> Bool {
        let special: [Bool] =
            switch content {
            case .floats(let values): values.lazy.filter { !$0.isFinite }.map(\.isNaN)
            case .halfs(let values):
                values.lazy.filter { $0 & 0x7C00 == 0x7C00 }.map { $0 & 0x3FF != 0 }
            default: []
            }
        try require(
            !special.contains(true), "", "the weights have NaN",
            "Nothing was written. Use a checkpoint whose training did not diverge.")
        return !special.isEmpty
    }
}
