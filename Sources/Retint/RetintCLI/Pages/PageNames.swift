import Retint

/// Names of files as a page shows them: without the folder in which all are.
struct PageNames {
    private let common: String

    init(_ paths: [String]) {
        let folders = paths.map { $0.split(separator: "/", omittingEmptySubsequences: false) }
        var shared = Array(folders.first?.dropLast() ?? [])
        for folder in folders.dropFirst() {
            let count = zip(shared, folder.dropLast()).prefix { $0 == $1 }.count
            shared.removeLast(shared.count - count)
        }
        common = shared.isEmpty ? "" : shared.joined(separator: "/") + "/"
    }

    /// The end of one of the paths.
    func callAsFunction(_ path: String) -> String {
        path.hasPrefix(common) ? String(path.dropFirst(common.count)) : path
    }
}
