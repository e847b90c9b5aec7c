import RetintONNXProto

/// Reads the graph of a model, and checks the names of its values.
struct GraphReading {
    private(set) var inputs: [ONNXValueInfo] = []
    private(set) var outputs: [ONNXValueInfo] = []
    private(set) var nodes: [ONNXNode] = []
    private(set) var initializers: [String: ONNXTensor] = [:]

    private let source: ElementSource
    /// The names of all values so far.
    private var known: Set<String> = []
    /// Names are copied into every message about them, and into checkpoints.
    private static let longestName = 1024

    init(source: ElementSource) { self.source = source }

    mutating func read(_ graph: ONNXGraphProto) throws {
        guard graph.sparseInitializer.isEmpty else {
            throw ONNXError(
                place: "graph", rule: "it has sparse initializers",
                remedy: "Export the network with dense weights.")
        }
        for proto in graph.initializer {
            let place = "initializer \(proto.name.quoted)"
            try define(proto.name, at: place)
            initializers[proto.name] = try ONNXTensor(proto, at: place, from: source)
        }
        for proto in graph.input where initializers[proto.name] == nil {
            try define(proto.name, at: "input \(proto.name.quoted)")
            inputs.append(try ONNXValueInfo(proto, "input"))
        }
        for proto in graph.node { try read(proto) }
        for proto in graph.output {
            guard known.contains(proto.name) else {
                throw ONNXError(
                    place: "output \(proto.name.quoted)", rule: "nothing computes it")
            }
            outputs.append(try ONNXValueInfo(proto, "output"))
        }
        guard !outputs.isEmpty else { throw ONNXError(place: "graph", rule: "it has no outputs") }
        guard Set(outputs.map(\.name)).count == outputs.count else {
            throw ONNXError(place: "graph", rule: "two outputs have the same name")
        }
    }

    private mutating func read(_ proto: ONNXNodeProto) throws {
        var node = ONNXNode(name: proto.name, proto.opType, proto.input, proto.output)
        node.domain = proto.domain == "ai.onnx" ? "" : proto.domain
        let place = node.place
        for input in proto.input where !input.isEmpty && !known.contains(input) {
            throw ONNXError(
                place: place,
                rule: "its input \(input.quoted) is not computed before it: nodes have "
                    + "to be in order, without cycles")
        }
        guard proto.output.contains(where: { !$0.isEmpty }) else {
            throw ONNXError(place: place, rule: "it has no outputs")
        }
        for output in proto.output where !output.isEmpty { try define(output, at: place) }
        for attribute in proto.attribute {
            let value = try ONNXAttribute(attribute, at: place, from: source)
            guard node.attributes.updateValue(value, forKey: attribute.name) == nil else {
                throw ONNXError(
                    place: place, rule: "it has two attributes \(attribute.name.plain)")
            }
        }
        nodes.append(node)
    }

    private mutating func define(_ name: String, at place: String) throws {
        guard !name.isEmpty, name.utf8.count <= Self.longestName, !name.utf8.contains(0) else {
            throw ONNXError(
                place: name.utf8.count <= Self.longestName ? place : "graph",
                rule: "the name of a value must have 1 to \(Self.longestName) bytes and no zeros")
        }
        guard known.insert(name).inserted else {
            throw ONNXError(
                place: place, rule: "the value \(name.quoted) is defined twice")
        }
    }
}

extension ONNXValueInfo {
    init(_ proto: ONNXValueInfoProto, _ kind: String) throws {
        let place = "\(kind) \(proto.name.quoted)"
        let tensor = proto.type.tensorType
        guard proto.type.hasTensorType, let type = ONNXElementType(rawValue: tensor.elemType),
            type.storedType != nil
        else {
            let kind = proto.type.hasTensorType ? "of \(ONNXElementType.name(tensor.elemType))" : ""
            throw ONNXError(
                place: place,
                rule: "it is not a tensor of numbers" + (kind.isEmpty ? "" : ", but \(kind)"),
                remedy: "Export the network with tensors of numbers as inputs and outputs.")
        }
        name = proto.name
        self.type = type
        guard tensor.hasShape else {
            dimensions = nil
            return
        }
        _ = try checkedCount(tensor.shape.dim.map { max($0.dimValue, 1) }, at: place)
        dimensions = try tensor.shape.dim.map { dimension in
            guard case .dimValue(let extent) = dimension.value else {
                return .symbolic(dimension.dimParam)
            }
            guard extent >= 0 else {
                throw ONNXError(place: place, rule: "the extent \(extent) is negative")
            }
            // Some exporters write 0 where they do not know.
            return extent == 0 ? .symbolic("") : .fixed(Int(extent))
        }
    }
}

extension ONNXAttribute {
    init(_ proto: ONNXAttributeProto, at place: String, from source: ElementSource) throws {
        guard !proto.hasRefAttrName || proto.refAttrName.isEmpty else {
            throw ONNXError(
                place: place,
                rule: "the attribute \(proto.name.plain) refers to a function's attribute")
        }
        switch proto.type {
        case .float: self = .float(proto.f)
        case .int: self = .integer(Int(proto.i))
        case .string: self = .string(String(decoding: proto.s, as: UTF8.self))
        case .floats: self = .floats(proto.floats)
        case .ints: self = .integers(proto.ints.map { Int($0) })
        case .strings: self = .strings(proto.strings.map { String(decoding: $0, as: UTF8.self) })
        case .tensor:
            let place = "\(place), attribute \(proto.name.plain)"
            self = .tensor(try ONNXTensor(proto.t, at: place, from: source))
        default: self = .other("\(proto.type)")
        }
    }
}
