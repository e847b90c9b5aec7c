package import MLPackage
package import OperationCases
package import TensorGraph

/// Which operations of the graph a file format keeps, by the names of their types.
package struct OperationDetour {
    /// Those of all exported cases.
    package private(set) var tried: Set<String> = []
    /// Those that were still there after the detour.
    package private(set) var kept: Set<String> = []

    /// - Parameter detour: writes a package in the format, and reads it to a graph again.
    package init(_ detour: (MLPackage) throws -> Graph) throws {
        for testCase in OperationTable.exported {
            let built = try BuiltCase(testCase, inputPrefix: "x")
            let written = try package(built.lowered(.float32, .iOS16), .iOS16)
            let operations = built.output.graph.operationTypes
            tried.formUnion(operations)
            kept.formUnion(operations.intersection(try detour(written).operationTypes))
        }
        tried.subtract(OperationsOfNoFormat.all)
        kept.subtract(OperationsOfNoFormat.all)
    }
}

/// The operations of the graph that no file format has a form of.
package enum OperationsOfNoFormat {
    private static let byReason: [String: Set<String>] = [
        "its value is known, or given when the graph runs": ["Constant", "Input", "Variable"],
        "it belongs to a gradient": [
            "AveragePoolGradient", "BatchNormGradientSums", "BatchNormInputGradient",
            "ConvolutionWeightGradient", "MaxPoolGradient", "ReluGradient", "SliceScatter",
            "UpsampleBilinearGradient",
        ],
        "it belongs to a training step": [
            "BatchMoments", "BatchNormTraining", "FakeQuantize",
        ],
        "it exchanges messages with other ranks": [
            "AllReduceFinish", "AllReduceStart", "BucketPart", "CombinedMoments", "CombinedSums",
        ],
        "no layer uses it: it occurs in gradients, and is what several operations of MIL become": [
            "Equal", "Greater", "GreaterOrEqual",
        ],
        "a format's element type says it": ["RoundToHalf"],
    ]

    package static let all = byReason.values.reduce(into: Set()) { $0.formUnion($1) }
}

extension Graph {
    fileprivate var operationTypes: Set<String> {
        Set(nodes.map { "\(type(of: $0.operation))" })
    }
}
