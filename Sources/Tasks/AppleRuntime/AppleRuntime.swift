import Foundation
import RetintFiles
import RetintTensorFiles
import RetintTensors
import Subprocess
import SystemPackage

/// Apple's Core AI runtime, which runs a `.aimodel` on Linux in a Python that has PyPI's
/// `coreai-core`.
///
/// It interprets the model: good for checking a model, not for using it.
public struct AppleRuntime: Sendable {
    /// The version of `coreai-core` that retint works with; it refuses others.
    public static let version = "1.0.0b3"
    /// The name of the runtime in reports.
    public static let name = "Apple's Core AI runtime \(version) on Linux"

    /// The Python's path, or its name to be looked up on PATH.
    public let python: String
    /// The time limit of one process: its start, and up to 32 runs.
    public let timeLimit: Duration

    /// Creates a runtime with a Python; nothing runs yet.
    ///
    /// - Parameters:
    ///   - python: the Python's path or name. If nil, that in the environment variable
    ///     `RETINT_COREAI_PYTHON`, or that of `Scripts/setup --coreai` in the checkout in which the
    ///     running program was built.
    ///   - timeLimit: how long one process may take.
    /// - Throws: ``AppleRuntimeError`` if there is none.
    public init(
        python: String? = nil, timeLimit: Duration = .seconds(600)
    ) throws(AppleRuntimeError) {
        self.python = try PythonSearch.python(python)
        self.timeLimit = timeLimit
    }

    /// Checks that the Python has the version that retint works with.
    ///
    /// - Throws: ``AppleRuntimeError`` if the Python cannot be run, or has no or another version.
    public func check() async throws {
        try await withTemporaryFolder { folder in
            try await run([], in: folder, model: nil)
        }
    }

    /// Whether the runtime can run what is at a path: a folder with a program in it.
    package static func isModel(_ path: some PathConvertible) -> Bool {
        (try? FileKind(at: path.filePath.appending("main.mlirb"))) == .file
    }
}

// MARK: Running

extension AppleRuntime {
    /// The results of a model.
    package struct Results {
        /// The precision of the weights: `float32`, `float16` or `quantized`.
        package let precision: String
        /// The arithmetic that operations declare: `float32`, `float16`, or `mixed` if both.
        package let compute: String
        /// The name of each input, and its shape, in which nil is an extent that may vary.
        package let inputs: [(name: String, shape: [Int?])]
        /// The outputs of each run.
        package let runs: [[(name: String, data: TensorData)]]
    }

    /// Runs a model on several inputs, in one process.
    ///
    /// - Parameters:
    ///   - model: the path of a `.aimodel`.
    ///   - runs: the inputs of each run, by name, or by order if there is one; without runs, the
    ///     model is only described.
    /// - Throws: ``AppleRuntimeError``; `FileError` and `TensorFileError` if temporary files cannot
    ///   be written or read.
    package func run(
        _ model: some PathConvertible, on runs: [[(name: String, data: TensorData)]]
    ) async throws -> Results {
        let path = model.filePath.string
        guard Self.isModel(path) else {
            throw AppleRuntimeError(
                .otherFormat, path: path,
                "Apple's Core AI runtime runs .aimodel files, and this is not one; export the "
                    + "checkpoint as one: retint export CHECKPOINT -o NAME.aimodel")
        }
        return try await withTemporaryFolder { folder in
            try writeRequest(runs, to: folder)
            try await run(["--", path, folder], in: folder, model: path)
            return try results(in: folder, of: path, count: runs.count)
        }
    }

    private func writeRequest(
        _ runs: [[(name: String, data: TensorData)]], to folder: String
    ) throws {
        let files = try runs.enumerated().map { index, inputs in
            try inputs.enumerated().map { number, input in
                let file = "\(index)-\(number).npy"
                try NumPyFile.write(
                    StoredTensor(input.data), to: folder.filePath.appending(file))
                return NamedFile(name: input.name, file: file)
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = try encoder.encode(RuntimeRequest(runs: files))
        try AtomicFile.write(Array(json), to: folder.filePath.appending(RuntimeRequest.file))
    }

    private func results(in folder: String, of path: String, count: Int) throws -> Results {
        guard let answer = RuntimeAnswer(in: folder), answer.runs.count == count else {
            throw AppleRuntimeError(
                .failed, path: path, "\(python) returned no results; check that it is a Python")
        }
        let runs = try answer.runs.map { outputs in
            try outputs.map { output in
                guard let data = try output.tensor(in: folder) else {
                    throw AppleRuntimeError(
                        .failed, path: path, "the output \(output.name) is not a tensor of floats")
                }
                return (output.name, data)
            }
        }
        return Results(
            precision: answer.precision, compute: answer.compute,
            inputs: answer.inputs.map { ($0.name, $0.shape) },
            runs: runs)
    }
}

// MARK: The process

extension AppleRuntime {
    /// The exit status of `run_aimodel.py` without the right version of the runtime.
    private static let unavailable: Int32 = 3
    private static let maximumMessages = 1 << 26

    /// Runs `run_aimodel.py`.
    ///
    /// - Parameter model: the path that errors name; the Python if nil.
    private func run(_ arguments: [String], in folder: String, model: String?) async throws {
        let program = folder.filePath.appending("run_aimodel.py")
        try AtomicFile.write(PackageResources.run_aimodel_py, to: program)
        let words = [program.string, Self.version] + arguments
        let (status, messages) = try await limited(model) { try await execute(words) }
        switch status {
        case .exited(0): return
        case .exited(Self.unavailable):
            throw AppleRuntimeError(.unavailable, Self.cause(messages))
        case .exited:
            throw AppleRuntimeError(.failed, path: model ?? python, Self.cause(messages))
        case .signaled(let signal):
            throw AppleRuntimeError(
                .failed, path: model ?? python,
                "\(Self.name) was ended by signal \(signal): \(Self.cause(messages))")
        }
    }

    private func execute(_ words: [String]) async throws -> (TerminationStatus, String) {
        let executable: Executable = python.contains("/") ? .path(FilePath(python)) : .name(python)
        do {
            let result = try await Subprocess.run(
                executable, arguments: Arguments(words), input: .none, output: .discarded,
                error: .string(limit: Self.maximumMessages))
            return (result.terminationStatus, result.standardError)
        } catch let error as SubprocessError where error.code != .outputLimitExceeded {
            throw AppleRuntimeError(
                .unavailable, path: python,
                "cannot be run; name a Python that has coreai-core==\(Self.version), in the "
                    + "environment variable \(PythonSearch.variable)")
        }
    }

    /// Ends a process that takes too long.
    private func limited<Result: Sendable>(
        _ model: String?, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: timeLimit)
                return nil
            }
            guard let first = try await group.next(), let result = first else {
                throw AppleRuntimeError(
                    .timedOut, path: model ?? python,
                    "\(Self.name) takes more than \(timeLimit.components.seconds) s; allow it "
                        + "more, or verify on smaller inputs")
            }
            return result
        }
    }

    /// The line with the cause: the first one that names an error, or else the last.
    private static func cause(_ messages: String) -> String {
        let lines = messages.split(separator: "\n").filter {
            !$0.hasPrefix("ODIE [") && !$0.allSatisfy(\.isWhitespace)
        }
        let line = lines.first { $0.contains("error: ") } ?? lines.last
        return line.map { String($0.prefix(longestCause)) } ?? "it failed without a message"
    }

    private static let longestCause = 1000
}
