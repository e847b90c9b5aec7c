import Foundation
import RetintCheckpoints
import RetintFiles

extension TrainingConfiguration {
    /// Checks the files and folders that keys name, before any is read.
    ///
    /// - Parameter resumes: whether the run goes on, which needs no file to start from.
    /// - Throws: `FileError` about the first one that does not exist, with its key.
    func checkFiles(resumes: Bool) throws(FileError) {
        let named: [(key: String, path: String?)] = [
            ("data.train", data.train), ("data.validation", data.validation),
            ("data.cutouts", data.cutouts), ("init", resumes ? nil : start),
            ("distillation.teacher", distillation.teacher),
            ("loss.perceptual_network", loss.perceptual.network),
        ]
        // A package may be followed by the name of one of its functions.
        for case (let key, let path?) in named where !path.isEmpty && !path.contains("#") {
            guard try FileKind(at: ShippedCheckpoint.path(of: path)) == .nothing else { continue }
            let folder = FileManager.default.currentDirectoryPath
            throw FileError(
                path: path, operation: "read", reason: String(cString: strerror(ENOENT)),
                remedy: path.hasPrefix("/")
                    ? "check \(key)" : "check \(key), which is relative to \(folder)",
                errorNumber: ENOENT)
        }
    }
}
