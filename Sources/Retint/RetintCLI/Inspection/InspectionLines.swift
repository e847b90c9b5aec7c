import Retint

extension Inspection {
    /// The inspection as text.
    var lines: [String] {
        switch self {
        case .checkpoint(let inspection): inspection.lines
        case .package(let inspection): inspection.lines
        case .onnx(let inspection): inspection.lines
        case .tensors(let inspection): inspection.lines
        }
    }
}

extension CheckpointInspection {
    fileprivate var lines: [String] {
        let training = step.map { ["step \($0), \(optimizerTensors) optimizer tensors"] } ?? []
        let cost = Format.fixed(Double(multiplyAdds256 ?? multiplyAdds ?? 0) / 1e9, 3)
        let size = onlySize.map { "\($0[0]) × \($0[1]), its only size" } ?? "256 × 256"
        let form = form.map { form in
            "takes \(form.input.rawValue) \(form.inputRange), returns \(form.colors.rawValue) "
                + "\(form.colorRange)"
        }
        return ["\(file): checkpoint of \(network)"] + (form.map { [$0] } ?? []) + training + [
            "\(Format.grouped(parameters)) parameters, \(cost) G multiply-adds at \(size)",
            tensors.total,
        ] + tensors.table
    }
}

extension TensorFileInspection {
    fileprivate var lines: [String] {
        let format = kind == "hdf5" ? "HDF5" : kind
        let texts = (metadata ?? [:]).sorted { $0.key < $1.key }.map {
            "\($0.key.debugDescription): \($0.value.debugDescription)"
        }
        return ["\(file): \(format), \(tensors.total)"] + texts + tensors.table
    }
}

extension [TensorInspection] {
    fileprivate var table: [String] {
        var table = TextTable(
            header: ["tensor", "shape", "type", "elements"], rightAligned: [3])
        for tensor in self {
            let shape = tensor.shape.map { "\(Shape($0))" } ?? "-"
            table.append([
                tensor.name, shape, tensor.type ?? tensor.problem ?? "",
                tensor.shape == nil ? "-" : Format.grouped(tensor.elements),
            ])
        }
        return table.lines
    }

    fileprivate var total: String {
        let elements = reduce(0) { $0 + $1.elements }
        let bytes = reduce(0) { $0 + $1.bytes }
        return "\(Format.grouped(count)) tensors, \(Format.grouped(elements)) elements, "
            + Format.bytes(bytes)
    }
}

extension PackageInspection {
    fileprivate var lines: [String] {
        [
            "\(file): \(format), \(Format.bytes(diskBytes)) on disk"
        ] + functionLines + inputs.map { "input \($0.text)" } + outputs.map { "output \($0.text)" }
            + labelLines + TextTable(operations: operations).lines + weightTable.lines
            + metadata.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            + converterFaults.map { "warning: \($0.warning)" } + (placement?.lines ?? [])
    }

    private var format: String {
        guard let target, let specificationVersion, let opset else {
            let noun = ModelFormat.all.first { $0.kind == kind }?.noun ?? "a package"
            let name = noun.hasPrefix("a ") ? noun.dropFirst(2) : noun[...]
            return "\(name), shown with the operations of an ML Program"
        }
        let noun = kind == ModelFormat.compiled.kind ? "compiled package" : "package"
        return "\(noun) for \(target) (specification \(specificationVersion), \(opset))"
    }

    private var functionLines: [String] {
        functions.map {
            [
                "functions: \($0.joined(separator: ", ")), the default first; commands take one as "
                    + "PACKAGE#\($0.last ?? "")"
            ]
        } ?? []
    }

    private var labelLines: [String] {
        guard let labels else { return [] }
        let (names, shown) = (labels.names ?? [], 3)
        let count = labels.count.map { "\($0) labels" } ?? "labels"
        let list = names.prefix(shown).joined(separator: ", ") + (names.count > shown ? ", …" : "")
        return [
            "\(count) of \(labels.of)\(list.isEmpty ? "" : " (\(list))"): an app gets "
                + labels.outputs.joined(separator: ", ")
        ]
    }

    private var weightTable: TextTable {
        var table = TextTable(
            header: ["weights", "tensors", "elements", "size"], rightAligned: [1, 2, 3])
        for (type, entry) in weights.sorted(by: { $0.key < $1.key }) {
            table.append([
                type, Format.grouped(entry.tensors), Format.grouped(entry.elements),
                Format.bytes(entry.bytes),
            ])
        }
        return table
    }
}

extension TextTable {
    /// The number of operations of each type, the most frequent first.
    fileprivate init(operations: [String: Int]) {
        self.init(header: ["operation", "count"], rightAligned: [1])
        for (type, count) in operations.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            append([type, Format.grouped(count)])
        }
    }
}

extension ONNXInspection {
    fileprivate var lines: [String] {
        let writer = producer.isEmpty ? "" : ", written by \(producer)"
        let refused =
            unsupported.isEmpty
            ? [] : ["operations retint does not support: \(unsupported.joined(separator: ", "))"]
        return ["\(file): ONNX of opset \(opset)\(writer)"]
            + inputs.map { "input \($0.text)" } + outputs.map { "output \($0.text)" } + refused
            + TextTable(operations: operations).lines + [tensors.total] + tensors.table
            + metadata.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            + converterFaults.map { "warning: \($0.warning)" }
    }
}

extension ONNXInspection.Value {
    fileprivate var text: String {
        "\(name): \(type)" + (shape.map { " [\($0.joined(separator: ", "))]" } ?? "")
    }
}

extension PackageInterface {
    fileprivate var text: String {
        let sizes = shape.map { $0.map(String.init) ?? "?" }.joined(separator: ", ")
        let colors = colors.map { "\($0) " } ?? ""
        return "\(name): \(colors)\(kind) \(type) [\(sizes)]"
            + (allowedShapes.map { ", takes \($0)" } ?? "")
    }
}
