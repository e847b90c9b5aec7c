package import Foundation

/// A folder for one test, removed when the object is released.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        path = NSTemporaryDirectory() + "retint-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of an entry of the folder.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// The sorted names of the folder's entries, hidden ones included.
    package func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}

/// The bytes of every file below a folder, keyed by the path within the folder.
package func contents(ofFolder path: String) throws -> [String: Data] {
    var result: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
        result[name] = FileManager.default.contents(atPath: "\(path)/\(name)")
    }
    return result
}
