import Foundation

/// Files that the tests compare with, as inputs to start from.
enum Goldens {
    /// The paths of files, or folders, of a test target, sorted.
    static func files(of tests: String, endingIn suffix: String) -> [String] {
        let root = URL(filePath: #filePath).appending(path: "../../../../..").standardized
        let folder = root.appending(path: "Tests/\(tests)/Goldens").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(suffix) }.sorted().map { "\(folder)/\($0)" }
    }
}
