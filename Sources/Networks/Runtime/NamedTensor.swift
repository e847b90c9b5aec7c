import RetintGraph
import RetintMLPackage
import RetintTensors

/// The name and the value of an input or output.
public struct NamedTensor: Hashable, Sendable {
    /// The name of the input or output.
    public let name: String
    /// Its value.
    public let data: TensorData

    /// Creates a named value.
    public init(_ name: String, _ data: TensorData) {
        self.name = name
        self.data = data
    }

    /// The name and the shape, for error messages.
    package var summary: String { "\(name) \(data.shape)" }
}

extension [NamedTensor] {
    package var summary: String { isEmpty ? "nothing" : map(\.summary).joined(separator: ", ") }

    /// Finds the value of each of a model's inputs: by name, or by order if there is one. A name
    /// also matches its legal form in a package, such as `input_1` for `input.1`.
    ///
    /// - Throws: ``ModelError`` if the names are not those of the model's inputs.
    func matched(
        to names: [String], of model: String
    ) throws(ModelError) -> [String: TensorData] {
        if names.count == 1, count == 1 { return [names[0]: self[0].data] }
        let values = Dictionary(map { ($0.name, $0.data) }) { first, _ in first }
        let legal = Dictionary(map { (MILNames.legal($0.name), $0.data) }) { first, _ in first }
        let found = names.map { ($0, values[$0] ?? legal[MILNames.legal($0)]) }
        guard names.count == values.count, found.allSatisfy({ $0.1 != nil }) else {
            throw ModelError(
                .inputs, model,
                "takes \(names.joined(separator: ", ")), but the reference has \(summary); write "
                    + "a reference with the inputs of the model")
        }
        return Dictionary(found.compactMap { name, data in data.map { (name, $0) } }) { first, _ in
            first
        }
    }

    /// Splits a batch into batches of a given size; inputs that cannot be split evenly stay whole.
    package func batches(of size: Int?) -> [[NamedTensor]] {
        guard let size, size > 0, count == 1, self[0].data.shape.rank == 4,
            self[0].data.shape[0] > size, self[0].data.shape[0].isMultiple(of: size)
        else { return [self] }
        return stride(from: 0, to: self[0].data.shape[0], by: size).map { start in
            [NamedTensor(self[0].name, self[0].data.images(from: start, count: size))]
        }
    }
}

/// Joins the outputs of several runs into one batch.
package func joinedBatches(_ runs: [[NamedTensor]]) -> [NamedTensor] {
    guard runs.count > 1 else { return runs.first ?? [] }
    return runs[0].indices.map { index in
        let parts = runs.map { $0[index].data }
        var shape = parts[0].shape
        if shape.rank > 0 { shape[0] *= parts.count }
        let scalars = parts.flatMap(\.scalars)
        return NamedTensor(runs[0][index].name, TensorData(shape: shape, scalars: scalars))
    }
}

extension TensorData {
    /// `count` images of a batch, from index `start` on.
    ///
    /// - Precondition: the batch has that many images.
    package func images(from start: Int, count: Int) -> TensorData {
        let size = shape.count / shape[0]
        var part = shape
        part[0] = count
        return TensorData(
            shape: part, scalars: Array(scalars[start * size..<(start + count) * size]))
    }
}
