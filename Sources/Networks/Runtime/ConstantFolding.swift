import RetintFiles
import RetintFloat64
import RetintGraph
import RetintMIL

/// Computes what depends on constants alone when a network is converted, in float64, each result
/// rounded to float32. Weights are not constants: they keep their names and forms.
///
/// Core ML would compute such parts when it compiles a package; coremltools 9 refuses some of them
/// when it reads one.
enum ConstantFolding {
    /// Larger results stay computed, because they would make the package larger; those with
    /// infinities, such as masks, are not stored with the weights.
    private static let largestCount = 1 << 20, largestInfiniteCount = 1 << 16
    /// The elements of all results and the multiply-adds that they take: a long chain of small
    /// results would fill the memory, or take hours. What is beyond stays computed.
    private static let mostElements = 1 << 26, mostWork = 0x1p32

    /// - Throws: `GraphError` if the graph is invalid; `ConversionError` if a part of constants
    ///   cannot be computed.
    static func folded(
        _ outputs: [(name: String, value: Tensor)]
    ) throws -> [(name: String, value: Tensor)] {
        guard let source = outputs.first?.value.graph else { return outputs }
        var (elements, work) = (0, 0.0)
        return try source.copy(outputs) { id, target, copies in
            let node = source.nodes[id]
            let inputs = node.inputs.compactMap { copies[$0] }
            guard !inputs.isEmpty, node.shape.count <= largestCount,
                inputs.allSatisfy({ target.nodes[$0.id].operation is Constant })
            else { return nil }
            elements += node.shape.count
            work += source.work(of: id)
            guard elements <= mostElements, work <= mostWork else { return nil }
            let result = target.apply(node.operation, inputs)
            guard let value = try value(of: result),
                value.values.count <= largestInfiniteCount || value.values.allSatisfy(\.isFinite)
            else { return result }
            return target.constant(value.rounded)
        }
    }

    /// - Throws: `ConversionError` if the constants are not those of the operation, such as indices
    ///   that are out of range.
    private static func value(of result: Tensor) throws -> Float64Array? {
        let nothing = Float64Feeds(input: { _ in nil }, variable: { _ in nil })
        do {
            var run = try Float64Run(result.graph, [result.id], nothing)
            var last: Float64Array?
            while let next = try run.next() { last = next.value }
            return last
        } catch let error as GraphError {
            throw ConversionError(
                place: error.place, rule: error.rule,
                remedy: "Correct the constants of the network.")
        }
    }
}
