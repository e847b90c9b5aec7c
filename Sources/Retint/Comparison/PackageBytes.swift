import Files
import Foundation
import MLPackage

/// The bytes of the files of a package; nil if no folder is at `path`.
func fileBytes(ofPackage path: String) throws -> Int? {
    guard (try? isDirectory(path)) == true else { return nil }
    let folder = URL(fileURLWithPath: path, isDirectory: true)
    let files = FileManager.default.enumerator(
        at: folder, includingPropertiesForKeys: [.fileSizeKey])
    return try (files?.compactMap { $0 as? URL } ?? []).reduce(0) { sum, file in
        sum + (try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
    }
}

extension MLPackage {
    /// The bytes of the package's files, written to a temporary folder.
    func writtenBytes() throws -> Int {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "retint-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("model.mlpackage").path
        try write(to: path)
        return try fileBytes(ofPackage: path) ?? 0
    }
}
