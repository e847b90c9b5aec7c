package import RetintGraph
package import RetintMLPackage
package import RetintOperationCases

/// The operations of the graph that are still operations of the graph after a file format, by the
/// names of their types.
package struct OperationDetour {
    /// The operations of all exported cases.
    package private(set) var tried: Set<String> = []
    /// Those that a case still has after the detour.
    package private(set) var kept: Set<String> = []

    /// - Parameters:
    ///   - cases: those that the format has.
    ///   - detour: writes a package in the format, and reads it to a graph again.
    package init(
        of cases: [OperationCase] = OperationTable.exported,
        _ detour: (MLPackage) throws -> Graph
    ) throws {
        for testCase in cases {
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

/// The operations of the graph that no file format has, and why.
package enum OperationsOfNoFormat {
    private static let byReason: [String: Set<String>] = [
        "it is a value, not a computation": ["Constant", "Input", "Variable"],
        "it belongs to a gradient": [
            "AveragePoolGradient", "BatchNormGradientSums", "BatchNormInputGradient",
            "ConvolutionWeightGradient", "LeakyReluGradient", "MaxPoolGradient", "Relu6Gradient",
            "SliceScatter", "UpsampleBilinearGradient",
        ],
        "it belongs to a training step": [
            "BatchMoments", "BatchNormTraining", "FakeQuantize",
        ],
        "it exchanges messages with other ranks": [
            "AllReduceFinish", "AllReduceStart", "BucketPart", "CombinedMoments", "CombinedSums",
        ],
        "formats have element types instead": ["RoundToHalf"],
    ]

    package static let all = byReason.values.reduce(into: Set()) { $0.formUnion($1) }
}

extension Graph {
    fileprivate var operationTypes: Set<String> {
        Set(nodes.map { "\(type(of: $0.operation))" })
    }
}
