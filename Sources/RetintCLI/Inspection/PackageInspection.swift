import Foundation
import Retint

/// A Core ML package.
struct PackageInspection: Inspection {
    private enum CodingKeys: String, CodingKey {
        case kind, file, target, specificationVersion, opset, inputs, outputs, operations, weights
        case diskBytes, metadata, placement
    }

    struct Interface: Encodable {
        let name: String
        /// `multiArray` or `image`.
        let kind: String
        let type: String
        /// The default one where others may be given too; null for what an output leaves open.
        let shape: [Int?]
        /// Where several may be given, either all of them or, for each axis, the smallest and the
        /// largest size (null for any).
        let enumeratedShapes: [[Int]]?
        let shapeRange: [[Int?]]?
        fileprivate let allowed: String?

        private enum CodingKeys: String, CodingKey {
            case name, kind, type, shape, enumeratedShapes, shapeRange
        }
    }

    /// All weights of one type.
    struct Weights: Encodable {
        var tensors = 0
        var elements = 0
        var bytes = 0
    }

    let kind = "mlpackage"
    let file: String
    let target: String
    let specificationVersion: Int
    let opset: String
    let inputs: [Interface]
    let outputs: [Interface]
    /// How many there are of each type, constants not counted.
    let operations: [String: Int]
    /// By element type.
    let weights: [String: Weights]
    let diskBytes: Int
    let metadata: [String: String]
    /// Nil unless it was asked for.
    let placement: PlacementReport?

    init(_ package: MLPackage, path: String, withPlacement: Bool = false) {
        file = path
        target = package.target.rawValue
        specificationVersion = Int(package.target.specificationVersion)
        opset = package.target.opset
        inputs = package.description.inputs.map(Interface.init)
        let types = package.program.types
        outputs = package.description.outputs.map { Interface($0, types[$0.name]) }
        let computing = package.program.operations.filter { !$0.isConstant }
        operations = Dictionary(computing.map { ($0.type, 1) }, uniquingKeysWith: +)
        weights = Self.weights(of: package.program)
        diskBytes = Self.bytes(under: path)
        metadata = package.description.metadata.texts
        placement = withPlacement ? PlacementReport(package) : nil
    }

    /// What stands in the weight file, and float arrays that stand in the program itself.
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

    private static func bytes(under path: String) -> Int {
        let root = URL(fileURLWithPath: path, isDirectory: true)
        let files = FileManager.default.enumerator(
            at: root, includingPropertiesForKeys: [.fileSizeKey])
        return (files?.compactMap { $0 as? URL } ?? []).reduce(0) { sum, file in
            sum + ((try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? 0)
        }
    }

    var lines: [String] {
        var histogram = TextTable(header: ["operation", "count"], rightAligned: [1])
        for (type, count) in operations.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            histogram.append([type, Format.grouped(count)])
        }
        var sizes = TextTable(
            header: ["weights", "tensors", "elements", "size"], rightAligned: [1, 2, 3])
        for (type, entry) in weights.sorted(by: { $0.key < $1.key }) {
            sizes.append([
                type, Format.grouped(entry.tensors), Format.grouped(entry.elements),
                Format.bytes(entry.bytes),
            ])
        }
        return [
            "\(file): package for \(target) (specification \(specificationVersion), \(opset)), "
                + "\(Format.bytes(diskBytes)) on disk"
        ] + inputs.map { "input \($0.text)" } + outputs.map { "output \($0.text)" }
            + histogram.lines + sizes.lines
            + metadata.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            + (placement?.lines ?? [])
    }
}

extension PackageInspection.Interface {
    /// - Parameter declared: the program's side, which knows the shape where the feature is silent.
    init(_ feature: Feature, _ declared: MILTensorType? = nil) {
        let type = feature.type
        let standard = type.defaultShape
        name = feature.name
        self.type = "\(type.tensorType.dataType)"
        shape = standard.isEmpty ? declared?.dimensions ?? [] : standard
        if case .image = type { kind = "image" } else { kind = "multiArray" }
        enumeratedShapes = type.listedShapes
        let isRange = type.isFlexible && enumeratedShapes == nil
        shapeRange = isRange ? type.sizeBounds.map { [$0.lower, $0.upper] } : nil
        allowed = type.isFlexible ? type.allowedShapes : nil
    }

    init(_ feature: Feature) { self.init(feature, nil) }

    var text: String {
        let sizes = shape.map { $0.map(String.init) ?? "?" }.joined(separator: ", ")
        return "\(name): \(kind) \(type) [\(sizes)]" + (allowed.map { ", takes \($0)" } ?? "")
    }
}

extension MILOperation {
    /// The constants that stand in the operation itself.
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
    /// The texts that are not empty, without the record of values, which is for programs.
    fileprivate var texts: [String: String] {
        let own = [
            "description": shortDescription, "author": author, "license": license,
            "version": version,
        ]
        return userDefined.merging(own) { $1 }
            .filter { !$0.value.isEmpty && $0.key != NodeRecord.key }
    }
}
