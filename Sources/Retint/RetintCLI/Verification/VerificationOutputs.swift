import ArgumentParser
import Retint

/// What a verification prints and writes.
struct VerificationOutputs: ParsableArguments {
    @Flag(help: "List all intermediate values.")
    var layers = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Also write an HTML page with the images and a plot of the error along the network.",
            valueName: "file"), completion: .page)
    var html: String?

    @Option(
        help: ArgumentHelp(
            "Also save the measurements, to check them again with other bounds.",
            valueName: "results.json"), completion: .file(extensions: ["json"]))
    var save: String?

    @Option(
        help: ArgumentHelp(
            "Also write a JUnit report with a test case for each bound.", valueName: "file.xml"),
        completion: .file(extensions: ["xml"]))
    var junit: String?

    @Option(
        help: ArgumentHelp(
            "Also write a SARIF log with an error for each violated bound.",
            valueName: "file.sarif"), completion: .file(extensions: ["sarif"]))
    var sarif: String?

    @Option(
        help: .rare(
            """
            Also write all values of the first run, as retint computes them, in the format that \
            Apple's debugger for Core AI compares with a device.
            """, valueName: "name.aimodelintermediates"), completion: .directory)
    var intermediates: String?

    @Option(
        help: .rare(
            """
            Also write the errors of intermediate values for a viewer; repeatable. FILE.json: node \
            data for Model Explorer. FILE.onnx: a copy of an ONNX file or package as ONNX, whose \
            nodes have the errors as metadata, for Netron and Model Explorer.
            """, valueName: "file"), completion: .overlay)
    var overlay: [String] = []

    var files: [String] { [html, save, junit, sarif, intermediates].compactMap { $0 } + overlay }

    /// The copies of the model for viewers.
    var copies: [String] { overlay.filter { ModelFormat.onnx.isExtension(of: $0) } }

    func validate() throws {
        try checkName(html, "--html", "html", "htm")
        try checkName(save, "--save", "json")
        try checkName(junit, "--junit", "xml")
        try checkName(sarif, "--sarif", "sarif", "json")
        let others = Set(overlay).subtracting(copies)
        if let file = others.first(where: { !$0.hasSuffix(".json") }) {
            throw ValidationError(
                "--overlay \(file): the name must end in .json, for Model Explorer, or in .onnx")
        }
        guard intermediates?.hasSuffix(".aimodelintermediates") ?? true else {
            throw ValidationError(
                "--intermediates: the name must end in .aimodelintermediates, by which Apple's "
                    + "tools recognize the folder")
        }
    }

    /// Writes the files and prints the reports.
    ///
    /// - Parameter model: the verified model.
    func write(
        _ results: VerificationResults, of model: String, _ images: JudgedImages?
    ) throws {
        if let html { try VerificationPage(results, images).write(to: html) }
        if let save { try results.write(to: save) }
        if let junit { try results.writeJUnit(to: junit) }
        if let sarif { try results.writeSARIF(to: sarif) }
        if json {
            try Console.printJSON(VerificationSummary(results))
        } else {
            for line in results.lines(allLayers: layers) { Console.print(line) }
        }
        // Last, because a network may have no form in ONNX.
        for file in overlay where !copies.contains(file) { try results.writeNodeData(to: file) }
        for copy in copies { try results.writeAnnotatedONNX(of: model, to: copy) }
    }
}
