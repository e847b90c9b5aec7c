import CRetintHDF5

/// A small value attached to a group or dataset.
public enum HDF5Attribute: Hashable, Sendable, Codable {
    /// A single string.
    case string(String)
    /// A single integer of any width.
    case integer(Int)
    /// A single floating-point number of any width.
    case double(Double)
    /// A list of strings.
    case strings([String])
    /// A list of integers.
    case integers([Int])
    /// A list of floating-point numbers.
    case doubles([Double])
    /// An attribute of an unsupported type: a boolean, a compound, a table, or a variable-length
    /// string, with which a damaged file can make libhdf5 read out of bounds. In
    /// Python, `numpy.bytes_("text")` is a fixed-length string.
    case unsupported

    /// The value of a single string; nil for another type.
    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The value of a single integer; nil for another type.
    package var integer: Int? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The value of a single floating-point number; nil for another type, integers included.
    package var double: Double? {
        if case .double(let value) = self { value } else { nil }
    }

    /// The values of a list of integers; nil for another type, a single integer included.
    package var integers: [Int]? {
        if case .integers(let values) = self { values } else { nil }
    }
}

/// Reads the attributes of an object.
enum HDF5Attributes {
    static func read(
        of object: hid_t, at place: FilePlace, limits: TensorFileLimits
    ) throws(TensorFileError) -> [String: HDF5Attribute] {
        let names = HDF5Names(limit: limits.objects)
        let context = Unmanaged.passUnretained(names).toOpaque()
        let status = chdf5_each_attribute(object, HDF5Names.take, context)
        var attributes: [String: HDF5Attribute] = [:]
        for name in try names.checked(status, at: place, what: "attributes") {
            let place = FilePlace(place.path, "\(place.name ?? "/") attribute \(name)")
            let handle = try place.handle(
                H5Aopen(object, name, chdf5_default()), "cannot be opened")
            attributes[name] = try value(of: handle.id, at: place, limits)
        }
        return attributes
    }

    private static func value(
        of attribute: hid_t, at place: FilePlace, _ limits: TensorFileLimits
    ) throws(TensorFileError) -> HDF5Attribute {
        let type = try place.handle(H5Aget_type(attribute), "has no type")
        let space = try place.handle(H5Aget_space(attribute), "has no shape")
        let isScalar = H5Sget_simple_extent_type(space.id) == H5S_SCALAR
        guard isScalar || H5Sget_simple_extent_ndims(space.id) == 1 else { return .unsupported }
        let count = H5Sget_simple_extent_npoints(space.id)
        // Elements take at least 8 bytes in memory, whatever their size in the file.
        guard count >= 0, count <= limits.attributeBytes / 8,
            H5Aget_storage_size(attribute) <= limits.attributeBytes
        else { throw place.error(.refused, "is larger than \(limits.attributeBytes) bytes") }
        switch H5Tget_class(type.id) {
        case H5T_STRING:
            guard H5Tis_variable_str(type.id) == 0 else { return .unsupported }
            let values = try strings(attribute, type.id, Int(count), place)
            return isScalar ? .string(values[0]) : .strings(values)
        case H5T_INTEGER:
            let values = try numbers(attribute, 0 as Int, Int(count), place)
            return isScalar ? .integer(values[0]) : .integers(values)
        case H5T_FLOAT:
            let values = try numbers(attribute, 0 as Double, Int(count), place)
            return isScalar ? .double(values[0]) : .doubles(values)
        default: return .unsupported
        }
    }

    private static func numbers<Value: BitwiseCopyable>(
        _ attribute: hid_t, _ zero: Value, _ count: Int, _ place: FilePlace
    ) throws(TensorFileError) -> [Value] {
        let isInteger = zero is Int
        let type = try place.handle(
            isInteger ? chdf5_native_int64() : chdf5_native_double(), "libhdf5 has no memory",
            .unreadable)
        var values = [Value](repeating: zero, count: count)
        guard count > 0 else { return [] }
        let status = H5Aread(attribute, type.id, &values)
        try place.check(status, "cannot be read")
        return values
    }

    private static func strings(
        _ attribute: hid_t, _ type: hid_t, _ count: Int, _ place: FilePlace
    ) throws(TensorFileError) -> [String] {
        guard count > 0 else { return [] }
        let size = H5Tget_size(type)
        let (total, overflow) = size.multipliedReportingOverflow(by: count)
        guard size > 0, !overflow, total <= Int(clamping: H5Aget_storage_size(attribute)) else {
            throw place.error(.damaged, "is shorter than it says")
        }
        var bytes = [UInt8](repeating: 0, count: total)
        try place.check(H5Aread(attribute, type, &bytes), "cannot be read")
        return (0..<count).map { index in
            let text = bytes[index * size..<(index + 1) * size].prefix { $0 != 0 }
            return String(decoding: text, as: UTF8.self)
        }
    }
}
