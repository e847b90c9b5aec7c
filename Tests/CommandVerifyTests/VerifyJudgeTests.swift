import Foundation
import RetintCommandSupport
import RetintGraph
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import Testing

/// `retint verify --judge`, with a program in place of the Python that has Apple's runtime.
@Suite(.sampled()) struct VerifyJudgeTests {
    private let bench: CommandBench
    private static let runtime = "Apple's Core AI runtime 1.0.0b3 on Linux"

    /// A model that retint cannot read and a reference for it: one network doubles its input.
    init() throws {
        bench = try CommandBench()
        for folder in ["a.aimodel", "b.aimodel"] {
            try FileManager.default.createDirectory(
                atPath: bench.path(folder), withIntermediateDirectories: false)
            try Data("no program".utf8).write(to: URL(filePath: bench.path(folder + "/main.mlirb")))
        }
        let input = TensorData(shape: [2, 1, 2, 2], scalars: [1, 2, 3, 4, 5, 6, 7, 8])
        let writer = try HDF5Writer(path: bench.path("ref.h5"))
        try writer.write(StoredTensor(input), to: "inputs/x")
        try writer.write(StoredTensor(input), to: "outputs/y")
        try writer.finish()
        try python("echo", Self.echo())
    }

    private func python(_ name: String, _ script: String) throws {
        let path = bench.path(name)
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    /// Gives the input of each run as its output, and describes a model that takes one image.
    private static func echo(precision: String = "float32", compute: String = "float32")
        -> String
    {
        """
        [ -n "$5" ] || exit 0
        cd "$5" || exit 9
        runs=
        for file in *-0.npy; do
            [ -e "$file" ] || continue
            runs="$runs${runs:+, }[{\\"name\\": \\"y\\", \\"file\\": \\"$file\\"}]"
        done
        cat > result.json <<END
        {"precision": "\(precision)", "compute": "\(compute)",
         "inputs": [{"name": "x", "shape": [1, 1, 2, 2]}], "runs": [$runs]}
        END
        """
    }

    private func verify(
        _ code: Int32, _ arguments: String..., python: String = "echo", says: [String] = []
    ) throws -> ProcessResult {
        let command = [
            "verify", "a.aimodel", "--reference", "ref.h5", "--judge-python", bench.path(python),
        ]
        guard code == 2 else { return try bench.expect(code, command + arguments, says: says) }
        // A tolerance that is exceeded is a result, and no error.
        let result = try bench.run(command + arguments)
        #expect(result.code == 2, "\(result.messages)")
        return result
    }

    @Test func appleAloneJudgesWhatRetintCannotRead() throws {
        let text = try verify(0, "--judge", "apple").output
        #expect(text.contains("computed in float32 by \(Self.runtime)"))
        #expect(text.hasSuffix("retint's engine did not run\npassed\n"))
        #expect(!text.contains("retint's CPU engine"))
        let report = try bench.json(verify(0, "--judge", "apple", "--json"))
        #expect(report["judge"] as? String == "apple" && report["passed"] as? Bool == true)
        #expect(report["runtime"] as? String == Self.runtime)
        // Both images are compared, one run each.
        let output = (report["outputs"] as? [String: [String: Any]])?["y"]
        #expect(output?["shape"] as? [Int] == [2, 1, 2, 2])
        #expect(output?["max_abs_error"] as? Double == 0)
    }

    @Test func whatDiffersFails() throws {
        let other = TensorData(shape: [1, 1, 2, 2], scalars: [1, 2, 3, 4.5])
        let writer = try HDF5Writer(path: bench.path("ref.h5"))
        try writer.write(
            StoredTensor(TensorData(shape: [1, 1, 2, 2], scalars: [1, 2, 3, 4])), to: "inputs/x")
        try writer.write(StoredTensor(other), to: "outputs/y")
        try writer.finish()
        let text = try verify(2, "--judge", "apple").output
        #expect(text.contains("max |error| / max |expected|") && text.hasSuffix("FAILED\n"))
        _ = try verify(0, "--judge", "apple", "--atol", "1")
        // The default bounds follow from the precision that the runtime tells.
        try python("half", Self.echo(precision: "float16", compute: "mixed"))
        let half = try verify(2, "--judge", "apple", python: "half").output
        #expect(half.contains("tolerance: SNR ≥ 30 dB") && half.contains("computed in mixed by"))
    }

    /// The verdict of one runtime is not used for another.
    @Test func aJudgeThatDoesNotRunFails() throws {
        let files = [
            "--save", "r.json", "--junit", "r.xml", "--sarif", "r.sarif", "--html", "r.html",
        ]
        let result = try bench.run(
            [
                "verify", "a.aimodel", "--reference", "ref.h5", "--judge-python",
                bench.path("echo"),
                "--judge", "both",
            ] + files)
        #expect(result.code == 65 && result.messages.contains("retint's engine did not run: a.aim"))
        #expect(result.output.hasSuffix("FAILED\n") && result.output.contains(Self.runtime))
        for file in files where !file.hasPrefix("-") {
            let text = try String(contentsOfFile: bench.path(file), encoding: .utf8)
            #expect(
                text.contains(file == "r.json" ? "\"missing\" : [" : "engine did not run"),
                "\(file)")
            #expect(text.contains("Core AI runtime 1.0.0b3 on Linux") || file == "r.sarif")
        }
        let junit = try String(contentsOfFile: bench.path("r.xml"), encoding: .utf8)
        #expect(junit.contains("errors=\"1\"") && junit.contains("retint.verify.apple"))
        // Judged again, too.
        let again = try bench.run(["verify", "r.json", "--atol", "9"])
        #expect(again.code == 65 && again.output.hasSuffix("FAILED\n"))
        let object = try bench.json(bench.run(["verify", "r.json", "--json"]))
        #expect(object["passed"] as? Bool == false)
        #expect((object["judges"] as? [Any])?.count == 1)
        #expect((object["missing"] as? [[String: String]])?.first?["judge"] == "retint")
    }

    @Test func appleAloneIsJudgedAgain() throws {
        _ = try verify(0, "--judge", "apple", "--save", "r.json")
        let text = try bench.expect(0, "verify", "r.json", "--layer-min-snr", "500").output
        #expect(text.contains(Self.runtime) && text.hasSuffix("did not run\npassed\n"))
    }

    @Test func failuresNameTheWayOut() throws {
        try python(
            "other", "echo 'this has coreai-core 2; pip install coreai-core==1.0.0b3' >&2; exit 3")
        try python("crash", "kill -SEGV $$")
        try python("slow", "exec sleep 30")
        let apple = ["--judge", "apple"]
        _ = try verify(1, "--judge", "apple", python: "other", says: ["pip install"])
        _ = try verify(65, "--judge", "apple", python: "crash", says: ["a.aimodel: ", "signal 11"])
        _ = try verify(
            1, "--judge", "apple", "--judge-timeout", "0.2", python: "slow",
            says: ["a.aimodel: ", "takes more than"])
        _ = try verify(1, "--judge", "apple", python: "none", says: ["coreai-core==1.0.0b3"])
        _ = try bench.makeCheckpoint()
        for model in ["model.h5", "none.aimodel"] {
            try bench.expect(
                65, ["verify", model, "--reference", "ref.h5", "--judge-python", "false"] + apple,
                says: [model, "-o NAME.aimodel"])
        }
    }

    @Test(arguments: [
        ["--judge", "nvidia"], ["--judge-python", "python3"], ["--judge-timeout", "1"],
        ["--judge", "apple", "--judge-timeout", "0"],
        ["--judge", "apple", "--judge-timeout", "nan"],
        ["--judge", "apple", "--compute", "float16"], ["--judge", "both", "--compute", "float16"],
        ["--judge", "apple", "--layer-min-snr", "1"],
        ["--judge", "apple", "--intermediates", "a.aimodelintermediates"],
        ["--intermediates", "folder"],
    ])
    func wrongUsage(_ options: [String]) throws {
        try bench.expect(64, ["verify", "a.aimodel", "--reference", "ref.h5"] + options)
    }

    @Test func theRuntimeIsFoundByItsVariable() throws {
        let result = try bench.run(
            ["verify", "a.aimodel", "--reference", "ref.h5", "--judge", "apple"],
            environment: ["RETINT_COREAI_PYTHON": bench.path("echo")])
        #expect(result.code == 0)
        for (python, phrase) in [("echo", "1.0.0b3, in "), ("none", "none: ")] {
            let system = try bench.run(
                ["inspect", "--system"],
                environment: ["RETINT_COREAI_PYTHON": bench.path(python)])
            #expect(system.output.contains("Apple's Core AI runtime: \(phrase)"))
        }
    }

    /// Values that retint writes for Apple's debugger are a reference for retint, too.
    @Test func intermediatesAreAReference() throws {
        let model = try bench.makeCheckpoint()
        try bench.expect(
            0, "verify", model, "--against", model, "--size", "64", "--intermediates",
            "own.aimodelintermediates")
        let object = try bench.json(
            bench.expect(
                0, "verify", model, "--reference", "own.aimodelintermediates", "--layer-tolerance",
                "0", "--json"))
        #expect((object["layers_compared"] as? Int ?? 0) > 50)
        try bench.expect(
            64, "verify", model, "--against", model, "--save", "x.json", "--sarif", "x.json",
            says: ["different files"])
    }
}
