import Foundation
import Retint

/// What `benchmark --tune` found out about this machine, in
/// `$XDG_CACHE_HOME/retint/kernels.json` (`~/.cache/retint/kernels.json`).
enum KernelFile {
    private struct Content: Codable {
        let cpu: String
        let kernels: [String: String]
    }

    /// The choices for this CPU; none if there is no such file, or it is another CPU's.
    static func read() -> KernelChoices {
        guard let path, let data = FileManager.default.contents(atPath: path),
            let content = try? JSONDecoder().decode(Content.self, from: data),
            content.cpu == Processor.name
        else { return KernelChoices() }
        return KernelChoices(names: content.kernels)
    }

    /// - Throws: a `FileError` if the file cannot be written.
    static func write(_ choices: KernelChoices) throws {
        guard let path else {
            throw CommandError(
                .failed,
                "--tune: there is no place to remember what was measured; set HOME or "
                    + "XDG_CACHE_HOME")
        }
        try createFolder(path.filePath.removingLastComponent())
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let content = Content(cpu: Processor.name, kernels: choices.names)
        try AtomicFile.write([UInt8](encoder.encode(content)), to: path)
    }

    static var path: String? {
        let environment = ProcessInfo.processInfo.environment
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        let cache = value("XDG_CACHE_HOME") ?? value("HOME").map { $0 + "/.cache" }
        return cache.map { $0 + "/retint/kernels.json" }
    }
}
