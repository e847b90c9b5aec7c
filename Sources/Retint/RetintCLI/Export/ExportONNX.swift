import ArgumentParser
import Retint

/// `export` to ONNX: the output ends in `.onnx`.
struct ExportONNX: ParsableArguments {
    @Option(
        help: """
            The version of ONNX's operators, \(ONNXOptions.opsets.lowerBound) to \
            \(ONNXOptions.opsets.upperBound); default: \(ONNXOptions.standardOpset), or a later \
            one that the model needs.
            """)
    var opset: Int?

    @Flag(
        help: """
            Write the weights to a file of their own, OUT.onnx.data, as is done above 2 GiB anyway.
            """)
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

    /// - Parameters:
    ///   - package: the package to write.
    ///   - source: the file that it was made from.
    ///   - output: the name of the ONNX file.
    ///   - precision: the precision of the network, if it was made from a checkpoint.
    func write(
        _ package: MLPackage, from source: String, to output: String, precision: String?
    ) throws {
        let claim = externalData ? try claimOutput(output + ".data", inputs: [source]) : nil
        defer { claim?.end() }
        var options = ONNXOptions(opset: opset)
        options.producerVersion = retintVersion
        let network = try naming(source) { try ONNXNetwork(package, options) }
        let files = try network.write(to: output, externalData: externalData)
        for note in network.notes { Console.note(note) }
        let parts =
            [precision].compactMap(\.self) + [
                "opset \(network.opset)", "\(network.nodeCount) nodes",
                "\(Format.grouped(network.weightCount)) weights",
            ]
        Console.print("\(files.joined(separator: " and ")): \(parts.joined(separator: ", "))")
    }
}
