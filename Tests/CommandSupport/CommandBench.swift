import Foundation
import RetintTestSupport
import Testing

/// The built `retint`, run in a temporary folder.
package final class CommandBench {
    private let folder: TemporaryFolder

    package var directory: String { folder.path }

    package init() throws { folder = try TemporaryFolder() }

    package func path(_ name: String) -> String { folder.path(name) }

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
