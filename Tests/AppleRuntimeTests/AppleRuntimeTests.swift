import Foundation
import RetintAppleRuntime
import RetintTensors
import RetintTestSupport
import Testing

/// Apple's runtime, played by programs that behave well or badly.
@Suite struct AppleRuntimeTests {
    private let scratch: TemporaryFolder
    private let model: String

    init() throws {
        scratch = try TemporaryFolder()
        model = scratch.path("a.aimodel")
        try FileManager.default.createDirectory(
            atPath: model, withIntermediateDirectories: false)
        try Data("MLïR".utf8).write(to: URL(filePath: model + "/main.mlirb"))
    }

    /// A runtime whose Python is a shell script. Its arguments are the program, the version, `--`,
    /// the model and the folder. Beside all other tests, a shell may wait minutes for a processor.
    private func runtime(_ script: String, limit: Duration = .seconds(1800)) throws -> AppleRuntime
    {
        let path = scratch.path("python")
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return try AppleRuntime(python: path, timeLimit: limit)
    }

    private func failure(
        _ script: String, limit: Duration = .seconds(1800), runs: Int = 1
    ) async throws -> AppleRuntimeError {
        let runtime = try runtime(script, limit: limit)
        let inputs = (0..<runs).map { _ in [(name: "x", data: Self.input)] }
        return try await #require(throws: AppleRuntimeError.self) {
            _ = try await runtime.run(model, on: inputs)
        }
    }

    private static let input = TensorData(shape: [1, 1, 2, 2], scalars: [1, 2, 3, 4])

    /// Answers with the input itself.
    private static let echo = """
        cd "$5" || exit 9
        cat > result.json <<'END'
        {"precision": "float16", "compute": "mixed",
         "inputs": [{"name": "x", "shape": [1, null, 2, 2]}],
         "runs": [[{"name": "y", "file": "0-0.npy"}], [{"name": "y", "file": "1-0.npy"}]]}
        END
        """

    @Test func resultsComeBackByRunAndName() async throws {
        let other = TensorData(shape: [1, 1, 2, 2], scalars: [-1, 0, 0.5, 9])
        let results = try await runtime(Self.echo).run(
            model, on: [[("x", Self.input)], [("x", other)]])
        #expect(results.precision == "float16" && results.compute == "mixed")
        #expect(results.inputs.map(\.name) == ["x"] && results.inputs[0].shape == [1, nil, 2, 2])
        #expect(results.runs.map { $0.map(\.name) } == [["y"], ["y"]])
        #expect(results.runs.map { $0[0].data } == [Self.input, other])
    }

    /// The program that runs is the one in the sources, and is told what it should do.
    @Test func theProgramIsGivenItsRequest() async throws {
        let log = scratch.path("log")
        _ = try await failure(
            "cp \"$1\" \(log).py; cat \"$5/request.json\" > \(log); echo \"$2 $3 $4\" >> \(log)")
        let text = try String(contentsOfFile: log, encoding: .utf8)
        let request = #"{"runs":[[{"file":"0-0.npy","name":"x"}]]}"#
        #expect(text == request + "\(AppleRuntime.version) -- \(model)\n")
        let program = try String(contentsOfFile: log + ".py", encoding: .utf8)
        #expect(program.hasPrefix("\"\"\"Runs a model by Apple's Core AI runtime"))
    }

    @Test(arguments: [
        (
            "echo 'ODIE [default]: x' >&2; echo 'no such operation' >&2; exit 1",
            AppleRuntimeError.Kind.failed, "no such operation"
        ),
        ("exit 1", .failed, "it failed without a message"),
        ("echo 'a has coreai-core 2.0' >&2; exit 3", .unavailable, "a has coreai-core 2.0"),
        (
            "echo 'loc(1): error: bad bytes' >&2; echo abort >&2; kill -ABRT $$", .failed,
            "was ended by signal 6: loc(1): error: bad bytes"
        ),
        ("true", .failed, "returned no results"),
        ("echo '{' > \"$5/result.json\"", .failed, "returned no results"),
        (
            echo + "\nsed -i 's/0-0.npy/..\\/a.npy/' result.json", .failed,
            "is not a tensor of floats"
        ),
        (echo + "\nsed -i 's/0-0.npy//' result.json", .failed, "is not a tensor of floats"),
        (echo + "\nsed -i 's/, \\[{.*\\]\\]/]/' result.json", .failed, "returned no results"),
    ])
    func badBehaviorIsTold(
        _ script: String, _ kind: AppleRuntimeError.Kind, _ phrase: String
    ) async throws {
        let error = try await failure(script, runs: 2)
        #expect(error.kind == kind && error.description.contains(phrase), "\(error)")
    }

    @Test func whatTakesTooLongIsEnded() async throws {
        let error = try await failure("exec sleep 600", limit: .milliseconds(200))
        #expect(error.kind == .timedOut && error.file == model)
    }

    @Test func otherFilesAreRefused() async throws {
        let runtime = try runtime("exit 9")
        for path in [scratch.path("none"), scratch.path("python"), scratch.path("")] {
            let error = await #expect(throws: AppleRuntimeError.self) {
                _ = try await runtime.run(path, on: [])
            }
            #expect(
                error?.kind == .otherFormat && error?.problem.contains("-o NAME.aimodel") == true)
        }
    }

    @Test func aMissingPythonIsNamed() async throws {
        let runtime = try AppleRuntime(python: scratch.path("none"))
        let error = await #expect(throws: AppleRuntimeError.self) { try await runtime.check() }
        #expect(error?.kind == .unavailable && error?.file == scratch.path("none"))
        #expect(error?.problem.contains("coreai-core==\(AppleRuntime.version)") == true)
    }
}
