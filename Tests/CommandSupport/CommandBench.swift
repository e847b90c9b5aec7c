import Foundation
import RetintTestSupport
import Testing

/// The built `retint`, run in a temporary folder.
package final class CommandBench {
    private let folder: TemporaryFolder

    package var directory: String { folder.path }

    package init() throws { folder = try TemporaryFolder() }

    package func path(_ name: String) -> String { folder.path(name) }

    /// Copies a file in the folder to one whose name is not UTF-8, `caf\xE9` and the extension.
    package func copyToOtherBytes(_ name: String) throws {
        let script = #"cp "$0" "${0%/*}/$(printf 'caf\351').${0##*.}""#
        let result = try runProcess(
            URL(filePath: "/bin/sh"), ["-c", script, name], in: directory)
        try #require(result.code == 0, "\(result.messages)")
    }

    /// The relative paths of everything in the folder, hidden entries included.
    package var files: Set<String> {
        Set((try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? [])
    }

    /// Runs `retint` in the folder.
    ///
    /// - Parameter output: where standard output goes; collected if nil.
    package func run(
        _ arguments: [String], environment: [String: String] = [:], output: FileHandle? = nil
    ) throws -> ProcessResult {
        let result = try runProcess(
            builtProgram("retint"), arguments, in: directory, environment: environment,
            output: output)
        #expect(!result.isSignaled, "\(arguments) trapped")
        return result
    }

    /// Starts `retint` in the folder, to be sent signals: those that the tests were started to
    /// ignore, as in the background of a shell, have their effect.
    package func start(_ arguments: String...) throws -> RunningProcess {
        try RunningProcess(
            URL(filePath: "/usr/bin/env"),
            ["--default-signal", builtProgram("retint").path] + arguments, in: directory)
    }

    /// Runs `retint` and expects an exit code and words on standard error.
    @discardableResult
    package func expect(
        _ code: Int32, _ arguments: String..., says fragments: [String] = [],
        location: SourceLocation = #_sourceLocation
    ) throws -> ProcessResult {
        try expect(code, arguments, says: fragments, location: location)
    }

    @discardableResult
    package func expect(
        _ code: Int32, _ arguments: [String], says fragments: [String] = [],
        location: SourceLocation = #_sourceLocation
    ) throws -> ProcessResult {
        let result = try run(arguments)
        #expect(result.code == code, "\(result.messages)", sourceLocation: location)
        for fragment in fragments {
            #expect(
                result.messages.contains(fragment), "\(result.messages)", sourceLocation: location)
        }
        if code != 0 {
            let isSaid = result.messages.contains("retint: error: ")
            #expect(isSaid, "\(result.messages)", sourceLocation: location)
        }
        return result
    }
}
