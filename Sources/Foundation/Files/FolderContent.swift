import SystemPackage

/// The files of a kind of folder, so that a folder with anything else is not replaced.
package struct FolderContent: Sendable {
    /// The file that every such folder has.
    private let marker: String
    private let recognizes: @Sendable (FilePath) -> Bool
    private let owns: @Sendable (String) -> Bool

    /// - Parameters:
    ///   - marker: the name of a file that every such folder has.
    ///   - recognizes: whether a folder is of this kind by the content of its marker, for markers
    ///     whose names are common.
    ///   - owns: whether a file, by its path in the folder, belongs to such a folder.
    package init(
        marker: String, recognizes: @escaping @Sendable (FilePath) -> Bool = { _ in true },
        owns: @escaping @Sendable (String) -> Bool
    ) {
        (self.marker, self.recognizes, self.owns) = (marker, recognizes, owns)
    }

    /// Why a folder is of another kind, to follow "the directory is not empty"; nil if it is of
    /// this one.
    func difference(of folder: FilePath, _ names: [String]) -> String? {
        guard names.contains(marker) else { return ", and has no \(marker)" }
        if let other = foreignFile(in: folder) { return ": it also contains \(other)" }
        return recognizes(folder) ? nil : ", and its \(marker) is not of such a directory"
    }

    /// The path in a folder of a file that does not belong to this kind; nil if there is none.
    private func foreignFile(in folder: FilePath) -> FilePath? {
        foreignFile(in: folder, below: "")
    }

    private func foreignFile(in folder: FilePath, below: FilePath) -> FilePath? {
        let names = (components(of: folder) ?? []).sorted { $0.string < $1.string }
        for name in names {
            let path = below.appending(name)
            let place = folder.appending(name)
            // No file of ours has such a name.
            guard String(validating: name) != nil else { return path }
            // A link is a file: its target is not removed with the folder.
            if components(of: place) == nil {
                if !owns(path.string) { return path }
            } else if let file = foreignFile(in: place, below: path) {
                return file
            }
        }
        return nil
    }
}
