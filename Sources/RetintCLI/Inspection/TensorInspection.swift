import Retint

/// A tensor of a file, without its numbers.
struct TensorInspection: Encodable {
    let name: String
    /// Nil for a dataset that is no tensor.
    var shape: [Int]?
    var type: String?
    var elements = 0
    var bytes = 0
    /// Why a dataset is not read as a tensor.
    var problem: String?

    init(name: String, shape: Shape, type: StoredType) {
        self.name = name
        self.shape = shape.dimensions
        self.type = type.rawValue
        elements = shape.count
        bytes = shape.count * type.byteCount
    }

    init(name: String, problem: String) {
        self.name = name
        self.problem = problem
    }
}

extension [TensorInspection] {
    var elements: Int { reduce(0) { $0 + $1.elements } }
    var bytes: Int { reduce(0) { $0 + $1.bytes } }

    var table: [String] {
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

    var total: String {
        "\(Format.grouped(count)) tensors, \(Format.grouped(elements)) elements, "
            + Format.bytes(bytes)
    }
}
