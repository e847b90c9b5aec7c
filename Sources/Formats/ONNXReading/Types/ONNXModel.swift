/// A checked ONNX network: values are computed before they are used and have one name
/// each, and every node contributes to an output.
package struct ONNXModel: Hashable, Sendable {
    /// The version of ONNX's operators.
    package var opset: Int
    /// The program that wrote the file, for people.
    package var producer: String
    /// The version of that program; empty if the file states none.
    package var producerVersion = ""
    package var metadata: [String: String]
    /// Inputs that are not initializers.
    package var inputs: [ONNXValueInfo]
    package var outputs: [ONNXValueInfo]
    package var nodes: [ONNXNode]
    package var initializers: [String: ONNXTensor]
    /// How weights were made of those in the file, where they are not the same.
    package var weightForms: [String: WeightForm] = [:]
    /// The initializers that may be learned by their type, and are not, in the order of their use:
    /// operations that take weights in other places do not train them.
    package var untrained: [String] = []
    /// The initializers that are not learned, such as values of `Constant` nodes.
    package internal(set) var constants: Set<String> = []

    package init(
        opset: Int, producer: String = "", metadata: [String: String] = [:],
        inputs: [ONNXValueInfo], outputs: [ONNXValueInfo], nodes: [ONNXNode],
        initializers: [String: ONNXTensor]
    ) {
        (self.opset, self.producer, self.metadata) = (opset, producer, metadata)
        (self.inputs, self.outputs) = (inputs, outputs)
        (self.nodes, self.initializers) = (nodes, initializers)
    }
}

/// An input or output: its name, type and shape.
package struct ONNXValueInfo: Hashable, Sendable {
    package enum Dimension: Hashable, Sendable {
        case fixed(Int)
        /// A variable size; the name may be empty.
        case symbolic(String)
    }

    package let name: String
    package let type: ONNXElementType
    /// Nil where the file states no shape.
    package let dimensions: [Dimension]?

    package init(name: String, type: ONNXElementType, dimensions: [Dimension]?) {
        (self.name, self.type, self.dimensions) = (name, type, dimensions)
    }

    /// The fixed extents, nil for each that is symbolic.
    package var extents: [Int?]? {
        dimensions?.map { if case .fixed(let extent) = $0 { extent } else { nil } }
    }
}

/// An operation with its attributes, and the names of its inputs and outputs.
package struct ONNXNode: Hashable, Sendable {
    package var name: String
    package var operation: String
    /// The domain of the operation; empty for ONNX's own.
    package var domain: String
    /// An empty name is an omitted optional input.
    package var inputs: [String]
    package var outputs: [String]
    package var attributes: [String: ONNXAttribute]

    package init(
        name: String = "", _ operation: String, _ inputs: [String], _ outputs: [String],
        _ attributes: [String: ONNXAttribute] = [:]
    ) {
        (self.name, self.operation, domain) = (name, operation, "")
        (self.inputs, self.outputs, self.attributes) = (inputs, outputs, attributes)
    }

    /// The node's name, or that of its first output.
    package var title: String { name.isEmpty ? outputs.first ?? "" : name }

    /// The title as a dotted path of modules: `/model1/model1.0/Conv` becomes
    /// `model1.model1.0.Conv`.
    package var module: String {
        let path = title.drop { $0 == "/" }.map { letter -> Character in
            if letter == "/" { return "." }
            return letter.isWhitespace || letter == "=" ? "_" : letter
        }
        return String(path)
    }

    /// For errors: `node "/model1/Conv" (Conv)`. Names are escaped: they must not steer a terminal.
    package var place: String { "node \(title.quoted) (\(operation.plain))" }
}

/// Text of a file in messages.
extension String {
    private static let longestQuotation = 100

    /// Quoted and escaped, so that it cannot steer a terminal, and cut, so that it cannot fill one.
    package var quoted: String {
        guard utf8.count > Self.longestQuotation else { return debugDescription }
        let start = String(String.UnicodeScalarView(unicodeScalars.prefix(Self.longestQuotation)))
        return start.debugDescription + "…"
    }

    /// The text itself if it is a plain word, else quoted and escaped.
    package var plain: String {
        let isPlain = utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || byte == 95 || byte == 46
        }
        return isPlain && !isEmpty && utf8.count <= Self.longestQuotation ? self : quoted
    }
}

/// The value of a node's attribute.
package enum ONNXAttribute: Hashable, Sendable {
    case float(Float)
    case integer(Int)
    case string(String)
    case tensor(ONNXTensor)
    case floats([Float])
    case integers([Int])
    case strings([String])
    /// A kind that no supported operation takes, such as a graph, with its name for errors.
    case other(String)
}
