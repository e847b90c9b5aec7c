import CRetintHDF5

/// The type of a dataset's elements: one of the plain numbers that PyTorch writes.
struct HDF5ElementType: Hashable {
    let stored: StoredType
    let isBigEndian: Bool

    init(_ stored: StoredType, isBigEndian: Bool) {
        (self.stored, self.isBigEndian) = (stored, isBigEndian)
    }

    init(of dataset: hid_t, _ place: FilePlace) throws(TensorFileError) {
        let type = try place.handle(H5Dget_type(dataset), "has no type")
        isBigEndian = H5Tget_order(type.id) == H5T_ORDER_BE
        switch H5Tget_class(type.id) {
        case H5T_FLOAT: stored = try Self.float(type.id, isBigEndian, place)
        case H5T_INTEGER: stored = try Self.integer(type.id, place)
        case let other: throw place.notPlain(Self.name(of: other))
        }
    }

    private static func float(
        _ type: hid_t, _ isBigEndian: Bool, _ place: FilePlace
    ) throws(TensorFileError) -> StoredType {
        let order: Int32 = isBigEndian ? 1 : 0
        let candidates: [(StoredType, hid_t)] = [
            (.float32, chdf5_float32(order)), (.float64, chdf5_float64(order)),
            (.float16, chdf5_float16(order, 5)), (.bfloat16, chdf5_float16(order, 8)),
        ]
        defer { for candidate in candidates { H5Tclose(candidate.1) } }
        guard let match = candidates.first(where: { H5Tequal(type, $0.1) > 0 }) else {
            throw place.notPlain("floats of an unusual format")
        }
        return match.0
    }

    private static func integer(
        _ type: hid_t, _ place: FilePlace
    ) throws(TensorFileError) -> StoredType {
        let size = H5Tget_size(type)
        let isSigned = H5Tget_sign(type) == H5T_SGN_2
        let isPlain = size <= 8 && H5Tget_precision(type) == size * 8 && H5Tget_offset(type) == 0
        let order = H5Tget_order(type)
        let name = "\(isSigned ? "" : "u")int\(size * 8)"
        guard isPlain, order == H5T_ORDER_LE || order == H5T_ORDER_BE,
            let stored = StoredType(rawValue: name)
        else { throw place.notPlain("integers of an unusual format") }
        return stored
    }

    private static func name(of type: H5T_class_t) -> String {
        switch type {
        case H5T_STRING: "strings"
        case H5T_COMPOUND: "compound values"
        case H5T_ENUM: "enumerated values, such as booleans"
        case H5T_REFERENCE: "references"
        case H5T_VLEN: "lists of varying length"
        case H5T_ARRAY: "arrays"
        case H5T_OPAQUE, H5T_BITFIELD: "opaque bytes"
        default: "values of an unknown type"
        }
    }
}
