import RetintCheckpoints
import RetintGraph
import RetintMLPackage

/// The precision of a model's weights and outputs.
public enum ModelPrecision: String, Hashable, Sendable, Codable {
    /// Single precision.
    case float32
    /// Half precision.
    case float16
    /// Weights are stored in fewer bits and decompressed when the model loads, values are rounded
    /// to integers of 8 bits, or outputs are such integers.
    case quantized
}

/// The arithmetic for running a model.
public enum ComputePrecision: String, Hashable, Sendable, CaseIterable, Codable {
    /// Nothing is rounded to half precision.
    case float32
    /// The inputs, the weights and the result of every operation are rounded to half precision.
    case float16
    /// Only results that a package declares as float16 are rounded.
    case mixed
}

extension ModelPrecision {
    /// The lowest precision of a package's weights, values and outputs.
    package init(of package: MLPackage) {
        let operations = package.program.operations
        let holdsHalf = operations.contains { operation in
            operation.outputs.contains { $0.type.dataType == .float16 }
        }
        let types = package.program.types
        // Wider integers are indices and counts.
        let hasBytes = package.program.outputs.contains { types[$0]?.dataType.isByte == true }
        let rounds = operations.contains { $0.isConstantExpression || $0.type == "quantize" }
        if hasBytes || rounds {
            self = .quantized
        } else {
            self = holdsHalf ? .float16 : .float32
        }
    }
}

extension ModelPrecision {
    /// The precision of a network, whose values may be rounded as it was trained to.
    init(of network: CheckpointSource) {
        let hasRanges = network.variables.keys.contains { InputRounding.weight(ofRange: $0) != nil }
        let imported = GraphNetwork(network).map { ModelPrecision(of: $0) }
        self = hasRanges ? .quantized : imported ?? .float32
    }

    /// The precision of a network of ONNX's operators.
    init(of network: GraphNetwork) {
        self = network.isQuantized ? .quantized : network.holdsHalf ? .float16 : .float32
    }
}

extension MILDataType {
    fileprivate var isByte: Bool { self == .int8 || self == .uint8 }
}

extension ComputePrecision {
    /// The arithmetic that a package declares, whatever the precision of its weights.
    init(of package: MLPackage) {
        let operations = package.program.operations.filter {
            !$0.isConstant && !$0.isConstantExpression
        }
        func types(_ operations: [MILOperation]) -> [MILDataType] {
            operations.flatMap(\.outputs).map(\.type.dataType)
        }
        let computed = types(operations.filter { !["cast", "identity"].contains($0.type) })
        if computed.contains(.float16) {
            self = computed.contains(.float32) ? .mixed : .float16
        } else {
            // Inputs, outputs and what is only passed on may be rounded all the same.
            let passed = types(operations) + package.program.inputs.map(\.type.dataType)
            self = passed.contains(.float16) ? .mixed : .float32
        }
    }
}
