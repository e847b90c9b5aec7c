/// How an operation of ONNX becomes operations of the graph.
struct OperationRule: Sendable {
    typealias Translation = @Sendable (NodeContext) throws -> [ONNXValue]

    /// The inputs that are learned if they are initializers.
    let parameters: Set<Int>
    /// The inputs that are running statistics if they are initializers.
    let buffers: Set<Int>
    /// Whether an initializer of one element is learned, or a constant of the formula.
    let learnsScalars: Bool
    let translate: Translation

    init(
        parameters: Set<Int> = [], buffers: Set<Int> = [], learnsScalars: Bool = true,
        _ translate: @escaping Translation
    ) {
        (self.parameters, self.buffers) = (parameters, buffers)
        (self.learnsScalars, self.translate) = (learnsScalars, translate)
    }
}

/// A file of the folder Operations: rules by the names of operations.
protocol OperationFamily {
    static var rules: [String: OperationRule] { get }
}

/// All rules.
package enum ONNXOperations {
    private static var families: [any OperationFamily.Type] {
        [
            Activations.self, Arithmetic.self, Casts.self, Comparisons.self, Convolutions.self,
            Einsums.self, Functions.self, Indexing.self, Joining.self, MatrixProducts.self,
            Normalizations.self, Pads.self, Pooling.self, Quantizing.self, Reductions.self,
            Resizing.self, Scans.self, Shapes.self, Slicing.self, Softmaxes.self,
        ]
    }

    static let rules: [String: OperationRule] = families.reduce(into: [:]) { rules, family in
        rules.merge(family.rules) { first, _ in first }
    }

    /// The names of the supported operations, by family, such as `Matrix products`.
    package static var table: [(family: String, operations: [String])] {
        families.map { family in
            let words = "\(family)".reduce(into: "") { words, letter in
                words +=
                    letter.isUppercase && !words.isEmpty ? " " + letter.lowercased() : "\(letter)"
            }
            return (words, family.rules.keys.sorted())
        }
    }
}
