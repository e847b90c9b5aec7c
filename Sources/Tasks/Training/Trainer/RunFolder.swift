import Foundation
import RetintCheckpoints
import RetintFiles
import RetintTensorFiles

/// The folder of a run: the paths of its files, and the lock that keeps other processes out.
final class RunFolder {
    let path: String
    /// Keeps other processes from training in the folder.
    private var lock: FolderLock?
    /// For a `last.h5` when nothing else is left: it is written beside the old one.
    private var space: ReservedSpace?

    init(_ path: String) { self.path = path }

    /// The checkpoint to resume from.
    var last: String { "\(path)/last.h5" }
    /// The weights of the lowest validation loss.
    var best: String { "\(path)/best.h5" }
    private var configuration: String { "\(path)/config.yaml" }
    /// One record a line.
    var metrics: String { "\(path)/metrics.jsonl" }
    var report: String { "\(path)/report.html" }
    /// A folder of validation photos as they were colored.
    var samples: String { "\(path)/samples" }

    /// Whether the folder contains a run.
    var holdsRun: Bool { access(last, F_OK) == 0 }

    /// - Throws: ``TrainingError`` if the folder contains a run.
    func requireNoRun() throws(TrainingError) {
        guard holdsRun else { return }
        throw TrainingError(
            .runExists, file: last,
            "the folder has a run; resume it, or choose another output folder",
            remedies: [Remedy(.resumes), Remedy(.output)])
    }

    // MARK: Locking

    /// The files that a run writes in its folder, existing or not.
    private static let reservedNames = [
        "config.yaml", "metrics.jsonl", "report.html", "last.h5", "best.h5",
    ]

    /// Locks the folder if there is one.
    ///
    /// - Throws: `FileError` if another process uses it, or one of a run's files leads elsewhere.
    func lockExisting() throws {
        lock =
            try FileKind(at: path) == .directory
            ? FolderLock(path, reserving: Self.reservedNames) : nil
        try requireOwnFiles()
    }

    /// Refuses links and devices in place of a run's files: they would be emptied or replaced
    /// wherever they lead.
    private func requireOwnFiles() throws(FileError) {
        for name in Self.reservedNames { try requireOwnFile("\(path)/\(name)") }
        guard ![.nothing, .directory].contains(try FileKind(at: samples, followingLinks: false))
        else { return }
        throw leadsElsewhere(samples, "a folder")
    }

    /// Refuses anything but a regular file or nothing at a path in the folder.
    func requireOwnFile(_ path: String) throws(FileError) {
        guard ![.nothing, .file].contains(try FileKind(at: path, followingLinks: false)) else {
            return
        }
        throw leadsElsewhere(path, "a file")
    }

    private func leadsElsewhere(_ path: String, _ kind: String) -> FileError {
        FileError(
            path: path, operation: "write", reason: "it is not \(kind) of this run",
            remedy: "replace a link by what it leads to, or choose another output folder")
    }

    /// The name of the samples after a step.
    static func sampleName(_ step: Int) -> String { padded(step) + ".png" }

    /// The step in such a name; nil for any other name.
    static func step(ofSample name: String) -> Int? {
        name.hasSuffix(".png") ? paddedNumber(name.dropLast(4)) : nil
    }

    /// Refuses pictures of somebody else that have the names of a run's samples.
    private func requireNoForeignSamples() throws(TrainingError) {
        guard access(metrics, F_OK) != 0,
            let name = entries(of: samples)?.first(where: { Self.step(ofSample: $0) != nil })
        else { return }
        throw TrainingError(
            .runExists, file: "\(samples)/\(name)",
            "it is not of a run in this folder, and would be removed; move it, or choose another "
                + "output folder",
            remedies: [Remedy(.output)])
    }

    /// Creates the folder, and locks it unless it is locked.
    ///
    /// - Parameter isNew: whether the run begins here: another one may have started since it was
    ///   prepared.
    func takeLock(isNew: Bool) throws {
        guard lock == nil else { return }
        try createFolder(path)
        try requireOwnFiles()
        let new = try FolderLock(path, reserving: Self.reservedNames)
        if isNew { try requireNoRun() }
        lock = new
    }

    func unlock() { (lock, space) = (nil, nil) }

    // MARK: Writing

    /// Writes `config.yaml`, and opens the files of metrics.
    ///
    /// - Parameter step: the step to resume after.
    func openSinks(
        _ configuration: TrainingConfiguration, resumingAt step: Int
    ) throws -> [any MetricsSink] {
        if step == 0 { try requireNoForeignSamples() }
        var opened: [any MetricsSink] = [
            try MetricsLog(metrics, resumingAt: step),
            try RunReport(configuration, in: self, resumingAt: step),
        ]
        if configuration.tensorboard {
            opened.insert(try TensorBoardLog(folder: path, resumingAt: step), at: 1)
        }
        try AtomicFile.write(Array(configuration.yaml.utf8), to: self.configuration)
        return opened
    }

    /// Writes a checkpoint.
    ///
    /// - Parameters:
    ///   - path: ``last`` or ``best``.
    ///   - step: the steps done, for errors.
    /// - Throws: ``TrainingError`` if a value is not finite; the errors of writing files.
    func write(_ checkpoint: Checkpoint, to path: String, step: Int) throws {
        for tensors in [checkpoint.state, checkpoint.optimizer] {
            for (tensor, stored) in tensors where !(stored.floats ?? []).allSatisfy(\.isFinite) {
                throw TrainingError(
                    .notFinite,
                    "step \(step): \(tensor) has values that are not finite; \(path) is "
                        + "unchanged. Lower optimizer.learning_rate")
            }
        }
        guard path == last else { return try checkpoint.write(to: path) }
        do {
            try checkpoint.write(to: path)
        } catch {
            guard space != nil else { throw error }
            // Probably for lack of space. Given back before, others could have taken it.
            space = nil
            try checkpoint.write(to: path)
        }
        guard space == nil else { return }
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        // That of the old one. If others have taken it, the next one is written if there is space.
        space = try? ReservedSpace(in: self.path, bytes: Int(status.st_size))
    }

    /// Reserves space for the first `last.h5`.
    ///
    /// - Parameter bytes: the size of its tensors, each of which takes more in the file.
    /// - Throws: `FileError` if the disk has less space.
    func reserveSpace(bytes: Int) throws(FileError) {
        space = try ReservedSpace(in: path, bytes: 2 * bytes + (1 << 20))
    }

    /// Also keeps `last.h5` as `step-<n>.h5`, and removes the oldest ones beyond the number to
    /// keep.
    func keepLast(step: Int, count: Int) throws {
        guard count > 0 else { return }
        let kept = keptPath(step)
        // A hard link is enough: last.h5 is never modified, only replaced.
        if link(last, kept) != 0, errno != EEXIST {
            throw FileError(path: kept, operation: "create")
        }
        // Files with other names are not counted, and not removed.
        let steps = (entries(of: path) ?? []).compactMap(Self.step(ofKept:)).sorted()
        for step in steps.dropLast(count) { unlink(keptPath(step)) }
    }

    private static let keptName = (prefix: "step-", suffix: ".h5")
    /// The digits of a step in a file's name, at least.
    private static let digits = 7

    private func keptPath(_ step: Int) -> String {
        "\(path)/\(Self.keptName.prefix)\(Self.padded(step))\(Self.keptName.suffix)"
    }

    /// The step in the name of such a file; nil for any other name.
    private static func step(ofKept name: String) -> Int? {
        guard name.hasPrefix(keptName.prefix), name.hasSuffix(keptName.suffix) else { return nil }
        return paddedNumber(name.dropFirst(keptName.prefix.count).dropLast(keptName.suffix.count))
    }

    private static func padded(_ step: Int) -> String {
        let number = String(step)
        return String(repeating: "0", count: max(digits - number.count, 0)) + number
    }

    private static func paddedNumber(_ text: Substring) -> Int? {
        guard text.count >= digits, text.allSatisfy({ $0.isASCII && $0.isNumber }) else {
            return nil
        }
        return Int(text)
    }
}
