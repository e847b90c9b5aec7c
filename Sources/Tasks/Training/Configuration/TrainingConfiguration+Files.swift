import Foundation
import RetintCheckpoints
import RetintFiles

extension TrainingConfiguration {
    /// Checks the files and folders that keys name, before any is read.
    ///
    /// - Parameter resumes: whether the run goes on, which needs no file to start from.
    /// - Throws: `FileError` about the first one that does not exist, with its key.
    func checkFiles(resumes: Bool) throws(FileError) {
        let named: [(key: String, path: String?, without: String)] = [
            ("data.train", data.train, ""),
            ("data.validation", data.validation, "to validate on some of the training photos"),
            ("data.cutouts", data.cutouts, "for none"),
            ("init", resumes ? nil : start, "to begin with random weights"),
            ("distillation.teacher", distillation.teacher, "to learn from photos alone"),
            ("loss.perceptual_network", loss.perceptual.network, ""),
        ]
        // A package may be followed by the name of one of its functions.
        for case (let key, let path?, let without) in named
        where !path.isEmpty && !path.contains("#") {
            guard try FileKind(at: ShippedCheckpoint.path(of: path)) == .nothing else { continue }
            let folder = FileManager.default.currentDirectoryPath
            throw FileError(
                path: path, operation: "read", reason: String(cString: strerror(ENOENT)),
                remedy: (path.hasPrefix("/")
                    ? "check \(described(key))"
                    : "check \(described(key)), which is relative to \(folder)")
                    + (without.isEmpty ? "" : ", or set it to null \(without)"),
                errorNumber: ENOENT)
        }
    }

    /// Refuses a run in a folder of photos, which its pictures would be among.
    func checkOutput() throws(TrainingError) {
        guard let own = FileIdentity(of: output) else { return }
        for (key, path) in [("data.train", data.train), ("data.validation", data.validation ?? "")]
        where FileIdentity(of: path) == own {
            throw TrainingError(
                .setting, place: "output",
                "is the folder of \(key), and pictures of the run would become photos; choose "
                    + "another folder")
        }
    }
}
