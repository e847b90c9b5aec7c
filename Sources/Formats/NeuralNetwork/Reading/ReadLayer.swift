import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// A layer that is being read, with what its reader needs.
struct ReadLayer {
    let proto: ProtoNeuralNetworkLayer
    /// The type of the layer: the name of its parameters in the format.
    let kind: String
    let inputs: [LayerValue]
    let place: String
    private let reader: NetworkReader

    init(_ proto: ProtoNeuralNetworkLayer, _ index: Int, _ reader: NetworkReader) throws {
        self.proto = proto
        self.reader = reader
        kind = proto.layer.flatMap { Mirror(reflecting: $0).children.first?.label } ?? "unknown"
        let place = "layer \(index) (\(kind), \"\(proto.name)\")"
        self.place = place
        inputs = try proto.input.map { name in
            guard let value = reader.value(name) else {
                throw Self.error(place, "its input \"\(name)\" is not defined before it")
            }
            return value
        }
    }

    init(_ proto: ProtoNeuralNetworkLayer, kind: String, place: String, _ reader: NetworkReader) {
        (self.proto, self.kind, self.place, self.reader) = (proto, kind, place, reader)
        inputs = []
    }

    private static func error(_ place: String, _ rule: String) -> MLPackageError {
        MLPackageError(
            file: "", place: place, rule: rule,
            remedy: "The file is damaged or uses an unsupported feature.")
    }

    func error(_ rule: String) -> MLPackageError { Self.error(place, rule) }

    func unknown() -> ConversionError {
        ConversionError(
            place: place, rule: "layers of the type \(kind) are not supported",
            remedy: "Convert the network without it, or to an .mlpackage for iOS15 or later.")
    }

    /// The only input.
    func input() throws -> LayerValue {
        guard inputs.count == 1 else { throw error("it has \(inputs.count) inputs, not one") }
        return inputs[0]
    }

    /// All inputs, which have to be of a number.
    func inputs(_ count: Int) throws -> [LayerValue] {
        guard inputs.count == count else {
            throw error("it has \(inputs.count) inputs, not \(count)")
        }
        return inputs
    }
}

// MARK: Operations

extension ReadLayer {
    /// Adds an operation with one result.
    func add(
        _ type: String, _ inputs: [String: MILOperand], as dataType: MILDataType = .float32
    ) throws -> Blob {
        try addSeveral(type, inputs, [dataType])[0]
    }

    /// Adds an operation with a result of each type.
    func addSeveral(
        _ type: String, _ inputs: [String: MILOperand], _ types: [MILDataType]
    ) throws -> [Blob] {
        let name = proto.name.isEmpty ? proto.output.first ?? type : proto.name
        return try reader.add(type, inputs, types, name: name, place: place)
    }

    /// Adds an input of the program.
    func input(_ name: String, _ dataType: MILDataType, _ shape: [Int]) throws -> Blob {
        try reader.input(name, dataType, shape)
    }

    func constant(_ value: MILValue) -> Blob {
        reader.constant(value, name: proto.name.isEmpty ? kind : proto.name)
    }

    func floats(_ values: [Float], _ shape: [Int]) -> Blob {
        constant(.floats(values, shape: shape))
    }

    func require(_ system: DeploymentTarget) { reader.require(system) }

    /// A value with its elements converted.
    func cast(_ x: Blob, to dataType: MILDataType) throws -> Blob {
        try add("cast", ["x": .name(x), "dtype": .text("\(dataType)")], as: dataType)
    }

    /// Integers and booleans as the floats that layers exchange.
    func floats(_ x: Blob) throws -> Blob { try cast(x, to: .float32) }

    func reshaped(_ x: Blob, _ shape: [Int]) throws -> Blob {
        try add("reshape", ["x": .name(x), "shape": .integers(shape)])
    }

    func transposed(_ x: Blob, _ axes: [Int]) throws -> Blob {
        try add("transpose", ["x": .name(x), "perm": .integers(axes)])
    }

    func expanded(_ x: Blob, _ axes: [Int]) throws -> Blob {
        try add("expand_dims", ["x": .name(x), "axes": .integers(axes)])
    }

    func squeezed(_ x: Blob, _ axes: [Int]) throws -> Blob {
        try add("squeeze", ["x": .name(x), "axes": .integers(axes)])
    }

    func combined(_ type: String, _ x: Blob, _ y: Blob) throws -> Blob {
        try add(type, ["x": .name(x), "y": .name(y)])
    }

    func combined(_ type: String, _ x: Blob, _ y: Float) throws -> Blob {
        try add(type, ["x": .name(x), "y": .number(y)])
    }
}

// MARK: Values

extension ReadLayer {
    /// A value as [N, channels, height, width].
    func images(_ value: LayerValue) throws -> Blob {
        if let images = value.images { return images }
        guard let exact = value.exact, value.shape.count >= 3 else {
            throw error("an input of shape \(value.shape) lacks channels, height and width")
        }
        let leading = value.leading
        let images =
            switch leading.count {
            case 0: try expanded(exact, [0])
            case 2 where leading[0] == 1: try squeezed(exact, [0])
            case 2 where leading[1] == 1: try squeezed(exact, [1])
            default: try reshaped(exact, [-1] + value.shape.suffix(3))
            }
        value.images = images
        return images
    }

    /// A value with its own axes.
    func exact(_ value: LayerValue) throws -> Blob {
        if let exact = value.exact { return exact }
        guard let images = value.images else { throw error("an input has no value") }
        let leading = value.leading
        let exact =
            switch leading.count {
            case 0: try squeezed(images, [0])
            case 2 where leading[0] == 1: try expanded(images, [0])
            case 2 where leading[1] == 1: try expanded(images, [1])
            default: try reshaped(images, value.shape)
            }
        value.exact = exact
        return exact
    }

    /// Images with as many axes as another value.
    func result(images: Blob, like value: LayerValue) throws -> LayerValue {
        let leading = value.leading
        guard images.shape.count == 4, leading.reduce(1, *) == images.shape[0] else {
            throw error("a result of shape \(images.shape) does not fit its input")
        }
        return LayerValue(images: images, leading + images.shape.dropFirst())
    }

    /// What an operation on images makes of the only input.
    func mapImages(_ body: (Blob) throws -> Blob) throws -> [LayerValue] {
        let x = try input()
        return [try result(images: try body(try images(x)), like: x)]
    }

    /// What an operation that keeps the shape makes of the only input.
    func mapElements(_ body: (Blob) throws -> Blob) throws -> [LayerValue] {
        [try mapElements(of: try input(), body)]
    }

    func mapElements(
        of x: LayerValue, _ body: (Blob) throws -> Blob
    ) throws -> LayerValue {
        if let images = x.images { return try result(images: try body(images), like: x) }
        return LayerValue(try body(try exact(x)))
    }

    /// What an operation makes of the only input with its own axes.
    func mapExact(_ body: (Blob) throws -> Blob) throws -> [LayerValue] {
        [LayerValue(try body(try exact(try input())))]
    }

    /// Two values that are broadcast against each other.
    func combined(_ type: String, _ x: LayerValue, _ y: LayerValue) throws -> LayerValue {
        try combined(x, y) { try combined(type, $0, $1) }
    }

    func combined(
        _ x: LayerValue, _ y: LayerValue, _ body: (Blob, Blob) throws -> Blob
    ) throws -> LayerValue {
        if x.images != nil || y.images != nil, x.leading == y.leading,
            min(x.shape.count, y.shape.count) >= 3, x.shape.count == y.shape.count
        {
            return try result(images: try body(try images(x), try images(y)), like: x)
        }
        return LayerValue(try body(try exact(x), try exact(y)))
    }

    /// Positions, as integers.
    func indices(_ value: LayerValue) throws -> Blob {
        if let elements = try value.constant?.floats() {
            let integers = elements.map { Int32($0.isNaN ? 0 : min(max($0, -0x1p31), 0x1p30)) }
            return constant(.integers(integers, shape: value.shape))
        }
        return try cast(try exact(value), to: .int32)
    }
}

// MARK: Numbers

extension ReadLayer {
    /// Extents, kernels and counts are no larger.
    private static let largestSize: UInt64 = 1 << 24

    /// A size of at least one.
    func size(_ number: UInt64, _ name: String) throws -> Int {
        guard (1...Self.largestSize).contains(number) else {
            throw error("\(name) has to be from 1 to \(Self.largestSize), not \(number)")
        }
        return Int(number)
    }

    /// A size of at least one from a signed field.
    func size(_ number: some SignedInteger, _ name: String) throws -> Int {
        guard number > 0 else { throw error("\(name) has to be above zero, not \(number)") }
        return try size(UInt64(number), name)
    }

    /// A list of sizes of at least one; the default if none is given.
    func sizes(_ numbers: [UInt64], _ name: String, default standard: [Int]) throws -> [Int] {
        if numbers.isEmpty { return standard }
        guard numbers.count == standard.count else {
            throw error("\(name) needs \(standard.count) numbers, has \(numbers.count)")
        }
        return try numbers.map { try size($0, name) }
    }

    /// Counts numbers that the file does not contain, before they are created.
    func create(_ count: Int) throws { try reader.create(count, place: place) }

    /// A size that may be zero.
    func amount(_ number: UInt64, _ name: String) throws -> Int {
        guard number <= Self.largestSize else {
            throw error("\(name) is \(number), more than \(Self.largestSize)")
        }
        return Int(number)
    }

    /// Amounts before and after height and width: top, bottom, left, right.
    func borders(_ amounts: ProtoBorderAmounts, _ name: String) throws -> [Int] {
        let edges = amounts.borderAmounts
        if edges.isEmpty { return [0, 0, 0, 0] }
        guard edges.count == 2 else {
            throw error("\(name) needs amounts for height and width, has \(edges.count)")
        }
        return try edges.flatMap {
            [try amount($0.startEdgeSize, name), try amount($0.endEdgeSize, name)]
        }
    }

    /// A position that may count from the end.
    func position(_ number: Int64, _ name: String) throws -> Int {
        guard number.magnitude <= Self.largestSize || number == .max || number == .min else {
            throw error("\(name) of \(number) is not supported")
        }
        return Int(Int32(clamping: number))
    }

    /// An axis of a value of a rank, counted from the front.
    func axis(_ number: Int64, rank: Int) throws -> Int {
        guard let axis = Int(exactly: number), (-rank..<rank).contains(axis) else {
            throw error("axis \(number) is out of range for rank \(rank)")
        }
        return axis < 0 ? axis + rank : axis
    }

    func axes(_ numbers: [Int64], rank: Int) throws -> [Int] {
        try numbers.map { try axis($0, rank: rank) }
    }

    /// A number, or the default that zero stands for.
    func number(_ number: Float, zeroMeans standard: Float) -> Float {
        number == 0 ? standard : number
    }
}
