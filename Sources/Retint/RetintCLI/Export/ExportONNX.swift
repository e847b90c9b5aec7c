import ArgumentParser
import Retint

/// `export` to ONNX: the output ends in `.onnx`.
struct ExportONNX: ParsableArguments {
    @Option(
        help: .rare(
            """
            The opset version, \(ONNXOptions.opsets.lowerBound) to \
            \(ONNXOptions.opsets.upperBound); default: \(ONNXOptions.standardOpset), or later if \
            the model needs it.
            """))
    var opset: Int?

    @Flag(
        help: .rare(
            """
            Write the weights to a separate file, OUT.onnx.data; always done above 2 GiB.
            """))
    var externalData = false

    func validate() throws {
        let range = ONNXOptions.opsets
        guard let opset, !range.contains(opset) else { return }
        throw ValidationError(
            "--opset \(opset): must be from \(range.lowerBound) to \(range.upperBound)")
    }

    /// The names of the options that were given.
    var given: [String] {
        RetintCLI.given(["--opset": opset != nil, "--external-data": externalData])
    }

    var options: ModelWritingOptions {
        var options = ModelWritingOptions()
        (options.opset, options.externalData) = (opset, externalData)
        return options
    }

    /// Claims the file of weights, if there is to be one.
    func claim(_ output: String, inputs: [String]) throws -> OutputClaim? {
        externalData ? try OutputClaim(output + ".data", inputs: inputs) : nil
    }
}
