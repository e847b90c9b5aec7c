import Foundation
import RetintONNXProto

/// The value of a node's attribute.
enum Attribute {
    case int(Int)
    case ints([Int])
    case float(Float)
    case string(String)

    func proto(_ name: String) -> ONNXAttributeProto {
        var proto = ONNXAttributeProto()
        proto.name = name
        switch self {
        case .int(let value): (proto.type, proto.i) = (.int, Int64(value))
        case .ints(let values): (proto.type, proto.ints) = (.ints, values.map { Int64($0) })
        case .float(let value): (proto.type, proto.f) = (.float, value)
        case .string(let value): (proto.type, proto.s) = (.string, Data(value.utf8))
        }
        return proto
    }
}

extension Attribute: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    init(integerLiteral value: Int) { self = .int(value) }
    init(stringLiteral value: String) { self = .string(value) }
    init(_ flag: Bool) { self = .int(flag ? 1 : 0) }
}

/// The attributes of a node, in the order in which they are written.
struct Attributes: ExpressibleByDictionaryLiteral {
    private var entries: [(name: String, value: Attribute)]

    init(dictionaryLiteral entries: (String, Attribute)...) {
        self.entries = entries.map { (name: $0.0, value: $0.1) }
    }

    mutating func add(_ name: String, _ value: Attribute) { entries.append((name, value)) }

    var protos: [ONNXAttributeProto] { entries.map { $0.value.proto($0.name) } }
}
