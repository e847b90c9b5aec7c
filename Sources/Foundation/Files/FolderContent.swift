import SystemPackage

/// The files of a kind of folder, so that a folder with anything else is not replaced.
package struct FolderContent: Sendable {
    /// The file that every such folder has.
    let marker: String
    private let owns: @Sendable (String) -> Bool

    /// - Parameters:
    ///   - marker: the name of a file that every such folder has.
    ///   - owns: whether a file, by its path in the folder, belongs to such a folder.
    package init(marker: String, owns: @escaping @Sendable (String) -> Bool) {
        (self.marker, self.owns) = (marker, owns)
    }

    /// The path in a folder of a file that does not belong to this kind; nil if there is none.
    func foreignFile(in folder: FilePath) -> FilePath? { foreignFile(in: folder, below: "") }

    private func foreignFile(in folder: FilePath, below: FilePath) -> FilePath? {
        for name in (entries(of: folder) ?? []).sorted() {
            let path = below.appending(name)
            let place = folder.appending(name)
            // A link is a file: its target is not removed with the folder.
            if entries(of: place) == nil {
                if !owns(path.string) { return path }
            } else if let file = foreignFile(in: place, below: path) {
                return file
            }
        }
        return nil
    }
}
