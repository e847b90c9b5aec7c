import Foundation
import Glibc

/// Files of the running input, in memory and removed at the end of the process.
enum WorkFolder {
    private static let folder: String = {
        var template = Array("/dev/shm/retint-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("cannot create a folder in /dev/shm") }
        atexit { WorkFolder.remove() }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    private static func remove() { try? FileManager.default.removeItem(atPath: folder) }

    static func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Writes a file as it is, without the steps that keep an older one safe.
    @discardableResult
    static func write(_ bytes: [UInt8], to name: String) -> String {
        let path = path(name)
        guard let file = fopen(path, "w") else { fatalError("cannot write \(path)") }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        return path
    }

    static func read(_ path: String) -> [UInt8] {
        FileManager.default.contents(atPath: path).map { [UInt8]($0) } ?? []
    }
}
