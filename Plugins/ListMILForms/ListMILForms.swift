import Foundation
import PackagePlugin

/// Lists the forms of MIL's operations, so that a new one is found by its file alone.
///
/// Every type that a file of the folder Operations declares as `MILRaisable`, or with a protocol
/// whose name ends in `Form`, goes into the array `MILForms.all`, in the order of the names.
@main
struct ListMILForms: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        guard let sources = target.sourceModule?.sourceFiles(withSuffix: "swift") else {
            return []
        }
        let operations = sources.map(\.url)
            .filter { $0.deletingLastPathComponent().lastPathComponent == "Operations" }
            .sorted { $0.path < $1.path }
        let output = context.pluginWorkDirectoryURL.appending(path: "MILForms.swift")
        return [
            .buildCommand(
                displayName: "List the forms of MIL's operations",
                executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", Self.script, "sh", output.path] + operations.map(\.path),
                inputFiles: operations, outputFiles: [output])
        ]
    }

    /// Takes the file to write and the files to read.
    private static let script = """
        set -e
        output=$1
        shift
        forms=$(sed -nE \\
            's/^(extension|enum|struct) ([A-Za-z0-9]+):.*(MILRaisable|Form)[ ,].*/\\2/p' \\
            "$@" | LC_ALL=C sort)
        {
            echo 'import RetintGraph'
            echo 'extension MILForms {'
            echo '    static let all: [any MILRaisable.Type] = ['
            for form in $forms; do echo "        $form.self,"; done
            echo '    ]'
            echo '}'
        } >"$output"
        """
}
