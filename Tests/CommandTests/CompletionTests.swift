import Foundation
import RetintCommandSupport
import RetintTestSupport
import Testing

/// What a shell offers when Tab is pressed.
@Suite(.sampled()) struct CompletionTests {
    private let bench: CommandBench

    init() throws {
        bench = try CommandBench()
        let script = try bench.run(["--generate-completion-script", "bash"])
        try script.output.write(
            toFile: bench.path("completions.bash"), atomically: true, encoding: .utf8)
    }

    private static let extensions = [
        "aimodel", "bin", "ckpt", "h5", "hdf5", "json", "mlmodel", "mlmodelc", "mlpackage",
        "onnx", "pt", "pth", "safetensors", "txt",
    ]

    /// Every format that a command reads or writes is offered, and no other file.
    @Test(arguments: [
        (
            "retint colorize ",
            ["aimodel", "h5", "hdf5", "mlmodel", "mlmodelc", "mlpackage", "onnx"]
        ),
        (
            "retint verify ",
            ["aimodel", "h5", "hdf5", "json", "mlmodel", "mlmodelc", "mlpackage", "onnx"]
        ),
        (
            "retint diff ",
            ["aimodel", "h5", "hdf5", "mlmodel", "mlmodelc", "mlpackage", "onnx"]
        ),
        (
            "retint import ",
            ["bin", "ckpt", "h5", "hdf5", "onnx", "pt", "pth", "safetensors"]
        ),
        (
            "retint inspect ",
            [
                "aimodel", "bin", "ckpt", "h5", "hdf5", "mlmodel", "mlmodelc", "mlpackage",
                "onnx", "pt", "pth", "safetensors",
            ]
        ),
        ("retint quantize ", ["aimodel", "mlmodel", "mlmodelc", "mlpackage"]),
        (
            "retint export m.h5 --package ",
            ["aimodel", "h5", "hdf5", "mlpackage", "onnx", "safetensors"]
        ),
        (
            "retint evaluate m.h5 --features ",
            ["bin", "ckpt", "h5", "hdf5", "pt", "pth", "safetensors"]
        ),
        ("retint average ", ["h5", "hdf5"]),
    ])
    func offers(_ typed: String, _ extensions: [String]) throws {
        for name in Self.extensions {
            #expect(
                FileManager.default.createFile(atPath: bench.path("m.\(name)"), contents: nil))
        }
        let offered = try runProcess(
            URL(filePath: "/bin/bash"),
            ["--norc", "-c", Self.pressTab, "bash", "completions.bash", typed],
            in: bench.directory)
        let files = offered.output.split(separator: "\n").filter { $0.hasPrefix("m.") }
        #expect(files.map(String.init).sorted() == extensions.map { "m.\($0)" })
    }

    /// Calls the function that the script registers, as the shell does.
    private static let pressTab = """
        . "$1"
        read -ra COMP_WORDS <<<"$2"
        [[ $2 != *' ' ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
        function_name=$(complete -p retint | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
        compopt() { :; }
        "$function_name" retint "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
        """
}
