import RetintMLPackage

extension TranslatedOperation {
    /// Writes weights that ONNX cannot store compressed in decompressed form.
    func writeDense(_ note: String) throws {
        guard let value = try constantValue(name) else {
            throw error("\(name) is not a constant", "The package is damaged: export it again.")
        }
        translation.note(note, about: name)
        translation.graph.define(value, as: name)
    }

    /// `constexpr_cast`: float16 weights of a float32 operation.
    func writeHalfWeights() throws {
        let value = try stored("source_val")
        guard value.type.dataType == .float16, type.dataType == .float32 else {
            throw error("a cast from \(value.type) to \(type) is not supported")
        }
        result(
            "Cast", [try constant(value, "half")], ["to": try Self.target(.float32, self)])
    }
}
