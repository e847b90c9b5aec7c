import RetintEngine
import RetintExport
import RetintGraph
import RetintMIL
import RetintTensors

extension ExportSource {
    /// Finds the operations of a package that exceed float16's range on given images: those whose
    /// results are too large, and those that use such results.
    ///
    /// The checkpoint is run in float32, folded as for an export.
    ///
    /// - Parameters:
    ///   - lightness: L in 0…100, [1, 1, H, W] each, with the package's default size.
    ///   - limit: the largest magnitude that may stay in float16.
    /// - Returns: names for `Float32Operations.overflowing`.
    /// - Throws: the errors of `makePackage`; `GraphError` if an image has another size.
    public func overflowingOperations(
        _ options: ExportOptions, on lightness: [TensorData], limit: Float
    ) throws -> Set<String> {
        let operations = try exportedOperations(self, options)
        guard let last = operations.last else { return [] }
        let program = try Program(
            outputs: [("last", last.result)], observing: operations.map(\.result))
        try program.load(variables)
        var large: Set<Int> = []
        for image in lightness {
            var run = try program.start(["input": options.input(lightness: image)])
            while let values = run.next() {
                for value in values where !(value.largestMagnitude <= limit) {
                    large.insert(operations[value.index].result.id)
                }
            }
        }
        let found = operations.filter { operation in
            large.contains(operation.result.id)
                || operation.operands.contains { large.contains($0.id) }
        }
        return Set(found.map(\.name))
    }
}
