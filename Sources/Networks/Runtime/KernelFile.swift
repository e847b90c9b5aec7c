import Foundation
import RetintEngine
import RetintFiles

/// The file that stores the fastest convolution algorithms of this machine:
/// `$XDG_CACHE_HOME/retint/kernels.json`, by default `~/.cache/retint/kernels.json`.
public enum KernelFile {
    private struct Content: Codable {
        let cpu: String
        let kernels: [String: String]
    }

    private static let maximumBytes = 1 << 24

    /// The choices for this processor, and for all GPUs; empty if there is no file.
    public static func read() -> KernelChoices {
        guard let path, let bytes = try? readFile(path, maximumBytes: maximumBytes),
            let content = try? JSONDecoder().decode(Content.self, from: Data(bytes))
        else { return KernelChoices() }
        let isOfThisProcessor = content.cpu == Processor.name
        return KernelChoices(
            names: content.kernels.filter {
                isOfThisProcessor || KernelChoices.isOfGPU(task: $0.key)
            })
    }

    /// Adds choices to the file; those for other processors are dropped.
    ///
    /// - Throws: `FileError` if the file cannot be written, or neither HOME nor XDG_CACHE_HOME is
    ///   set.
    public static func write(_ choices: KernelChoices) throws {
        guard let path else {
            throw FileError(
                path: "kernels.json", operation: "write",
                reason: "there is no folder for it", remedy: "set HOME or XDG_CACHE_HOME")
        }
        let known = read().names
        let names = known.merging(choices.names) { $1 }
        guard names != known else { return }
        try createFolder(path.filePath.removingLastComponent())
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let content = Content(cpu: Processor.name, kernels: names)
        try AtomicFile.write([UInt8](encoder.encode(content)), to: path)
    }

    private static var path: String? {
        let environment = ProcessInfo.processInfo.environment
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        let cache = value("XDG_CACHE_HOME") ?? value("HOME").map { $0 + "/.cache" }
        return cache.map { $0 + "/retint/kernels.json" }
    }
}
