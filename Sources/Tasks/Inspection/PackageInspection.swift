import RetintCheckpoints
import RetintDeviceRules
import RetintFiles
import RetintMIL
import RetintMLPackage

/// The contents of a Core ML package, or of an `.aimodel`, which is read as one.
public struct PackageInspection: Encodable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case kind, file, target, specificationVersion, opset, inputs, outputs, operations, weights
        case diskBytes, metadata, placement, functions, converterFaults, labels
    }

    /// All weights of one element type.
    public struct Weights: Encodable, Sendable {
        /// The number of weight tensors.
        public fileprivate(set) var tensors = 0
        /// The number of elements of these weights.
        public fileprivate(set) var elements = 0
        /// The size of these weights in the package, in bytes.
        public fileprivate(set) var bytes = 0
    }

    /// What a classifier makes of its probabilities.
    public struct Labels: Encodable, Sendable {
        /// The names of the label and of the probability of each label.
        public let outputs: [String]
        /// The name of the output with the probabilities.
        public let of: String
        /// The number of labels; nil if the package does not list them.
        public let count: Int?
        /// The labels in the order of the probabilities; nil if the package does not list them.
        public let names: [String]?
    }

    /// `mlpackage`, `mlmodelc`, `mlmodel` or `aimodel`.
    public let kind: String
    /// The path of the package's folder, as the caller gave it.
    public let file: String
    /// The oldest OS version that runs the package; nil for an `.aimodel` and a `.mlmodel`.
    public let target: String?
    /// Core ML's specification version of the model file, such as 7 for iOS 16; nil for an
    /// `.aimodel` and a `.mlmodel`.
    public let specificationVersion: Int?
    /// The operation set of the program, such as `CoreML6` for iOS 16; nil for an `.aimodel` and a
    /// `.mlmodel`.
    public let opset: String?
    /// The inputs, in the model's order.
    public let inputs: [PackageInterface]
    /// The outputs, in the model's order.
    public let outputs: [PackageInterface]
    /// The number of operations of each type, without constants.
    public let operations: [String: Int]
    /// By element type.
    public let weights: [String: Weights]
    /// The size of all files of the package.
    public let diskBytes: Int
    /// The description, author, license and version, and other texts by key; without empty ones.
    public let metadata: [String: String]
    /// The labels that an app gets instead of the probabilities; nil for other models.
    public let labels: Labels?
    /// The names of the package's functions, the default first; nil if it has only one. Everything
    /// else is about one of them: the default, or the one named in the path.
    public let functions: [String]?
    /// What the converter that the package states is known to convert wrongly, and may have
    /// converted here.
    public let converterFaults: [ConverterFinding]
    /// The operations that the Neural Engine is said to refuse; nil unless requested.
    public let placement: PlacementReport?

    init(
        _ package: MLPackage, _ format: ModelFormat, path: String, withPlacement: Bool
    ) throws {
        file = path
        kind = format.kind
        let own = [.coreML, .compiled].contains(format) ? package.target : nil
        target = own?.rawValue
        specificationVersion = own.map { Int($0.specificationVersion) }
        opset = own?.opset
        let types = package.program.types
        inputs = package.description.inputs.map { PackageInterface($0) }
        outputs = package.description.outputs.map { PackageInterface($0, types[$0.name]) }
        let computing = package.program.operations.filter { !$0.isConstant }
        operations = Dictionary(computing.map { ($0.type, 1) }, uniquingKeysWith: +)
        weights = Self.weights(of: package.program)
        diskBytes = try totalBytes(of: FunctionPath(path).package)
        labels = package.description.classifier.map {
            Labels(
                outputs: $0.outputs, of: $0.probabilities, count: $0.labels?.count,
                names: $0.labels)
        }
        functions = package.functionNames.isEmpty ? nil : package.functionNames
        metadata = package.description.metadata.texts
        converterFaults = ConverterFinding.findings(in: package)
        placement = withPlacement ? PlacementReport(package) : nil
    }

    /// The values of the weight file, and float arrays in the program itself.
    private static func weights(of program: MILProgram) -> [String: Weights] {
        var weights: [String: Weights] = [:]
        for operation in program.operations
        where operation.isConstant || operation.isConstantExpression {
            for value in operation.values where value.isWeight {
                var entry = weights["\(value.type.dataType)", default: Weights()]
                entry.tensors += 1
                entry.elements += value.type.elementCount ?? 0
                entry.bytes += value.type.byteCount ?? 0
                weights["\(value.type.dataType)"] = entry
            }
        }
        return weights
    }

}

/// An input or output of a package.
public struct PackageInterface: Encodable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case name, kind, type, colors, shape, enumeratedShapes, shapeRange
    }

    /// The name of the input or output.
    public let name: String
    /// `multiArray` or `image`.
    public let kind: String
    /// The element type.
    public let type: String
    /// The colors of an image: `grayscale`, `rgb` or `bgr`; nil for an array.
    public let colors: String?
    /// The default shape; nil for a dimension that an output leaves open.
    public let shape: [Int?]
    /// The allowed shapes, if they are listed.
    public let enumeratedShapes: [[Int]]?
    /// The smallest and the largest size of each axis, if sizes are given as ranges; nil for no
    /// upper bound.
    public let shapeRange: [[Int?]]?
    /// The allowed shapes as text; nil if the shape is fixed.
    public let allowedShapes: String?

    /// - Parameter declared: the type in the program, whose shape is used if the feature has
    ///   none.
    init(_ feature: Feature, _ declared: MILTensorType? = nil) {
        let type = feature.type
        let standard = type.defaultShape
        name = feature.name
        self.type = "\(type.tensorType.dataType)"
        shape = standard.isEmpty ? declared?.dimensions ?? [] : standard
        if case .image(let image) = type {
            (kind, colors) = ("image", image.colorSpace.name)
        } else {
            (kind, colors) = ("multiArray", nil)
        }
        enumeratedShapes = type.listedShapes
        let isRange = type.isFlexible && enumeratedShapes == nil
        shapeRange = isRange ? type.sizeBounds.map { [$0.lower, $0.upper] } : nil
        allowedShapes = type.isFlexible ? type.allowedShapes : nil
    }
}

extension ImageFeature.ColorSpace {
    fileprivate var name: String {
        switch self {
        case .grayscale, .grayscaleFloat16: "grayscale"
        case .rgb: "rgb"
        case .bgr: "bgr"
        }
    }
}

extension MILOperation {
    /// The constant values in the operation itself.
    fileprivate var values: [MILValue] {
        inputs.values.joined().reduce(into: Array(attributes.values)) { values, argument in
            if case .value(let value) = argument { values.append(value) }
        }
    }
}

extension MILValue {
    fileprivate var isWeight: Bool {
        if case .blob = content { return true }
        return type.dataType.isFloat && type.rank > 0
    }
}

extension ModelMetadata {
    /// All metadata by key, without empty texts and without the record of values.
    fileprivate var texts: [String: String] {
        let own = [
            "description": shortDescription, "author": author, "license": license,
            "version": version,
        ]
        return userDefined.merging(own) { $1.isEmpty ? $0 : $1 }
            .filter { !$0.value.isEmpty && $0.key != NodeRecord.key }
    }
}
