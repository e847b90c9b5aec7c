import Glibc
import RetintDistributed
import RetintEngine
import RetintFiles
import RetintImages
import RetintLocks
import RetintPhotoData
import RetintRuntime

/// How photos are colored.
public struct PhotoColoringOptions: Sendable {
    /// The side of the network's square input in pixels; nil for a package's
    /// own size and 256 for a checkpoint.
    public var size: Int?
    /// How photos are fitted to the network, and its colors to the photos.
    public var fitting = PhotoFitting()
    /// A factor for the colors.
    public var saturation: Float = 1
    /// Where each photo gets new colors; nil for everywhere.
    public var masks: ColorMasks?
    /// The picture that all photos show in perspective, if only this is colored.
    public var quadrilateral: Quadrilateral?
    /// The share of the new colors, 0…1; the rest is the photo's own.
    public var blend: Float = 1
    /// Another model; strips show its colors to the left.
    public var before: Model?
    /// Whether photos are skipped if their colored copy exists.
    public var skipsFinished = false

    /// The defaults.
    public init() {}
}

extension PhotoFile {
    /// The outcome for a photo.
    public enum Outcome: Sendable {
        /// Its colored copy was written. The notes say which of its metadata could not be kept.
        case colored(notes: [String])
        /// Its colored copy already existed.
        case skipped
        /// It could not be read or colored, or its colored copy could not be written.
        case failed(any Error)
    }
}

extension Model {
    /// Colors photos in files.
    ///
    ///     let files = try PhotoFile.list(["holiday"], to: "colored")
    ///     try await model.colorize(files) { file, outcome in print(file.output, outcome) }
    ///
    /// The copies keep the EXIF data and the resolution, see ``ImageMetadata``.
    ///
    /// Each thread processes one photo at a time, from decoding to encoding; finished photos are
    /// written in the meantime. So memory holds one decoded photo and up to two encoded ones per
    /// thread; photos of over 16 megapixels wait until those in progress leave room. The output
    /// files do not depend on the number of threads.
    ///
    /// - Parameters:
    ///   - files: the photos; see ``PhotoFile/list(_:to:_:leavingOut:)``.
    ///   - options: how they are colored.
    ///   - ranks: the processes that split the files, all with the same arguments.
    ///   - onPhoto: called for each photo of this rank, in the order of `files`.
    /// - Throws: `PhotoError` if a mask would be overwritten or, after all photos, if none of the
    ///   masks has a chosen instance; `ModelError` if a model is not a colorizer or does not run at
    ///   that size; `FileError` if a folder cannot be created; `CancellationError` if the task is
    ///   cancelled, after the photos in progress have been written; `RankError` if ranks cannot
    ///   reach each other.
    public func colorize(
        _ files: [PhotoFile], _ options: PhotoColoringOptions = .init(),
        ranks: Communicator = .single,
        onPhoto: (PhotoFile, PhotoFile.Outcome) -> Void = { _, _ in }
    ) async throws {
        try options.masks?.checkKept(by: files)
        try await colorOwnPhotos(
            self, ranks.ownIndices(of: files.count).map { files[$0] }, options, onPhoto)
        // All ranks end in the same way, whichever was cancelled.
        let isCancelled = Task.isCancelled
        let endings = try await onNewThread { _ in try ranks.gather(isCancelled) }
        if endings.contains(true) { throw CancellationError() }
        if let masks = options.masks, !options.skipsFinished {
            try masks.gatherInstances(ranks)
            try masks.checkInstances()
        }
    }
}

/// Colors the photos of one rank. If the task is cancelled, only photos in progress are finished.
private func colorOwnPhotos(
    _ model: Model, _ files: [PhotoFile], _ options: PhotoColoringOptions,
    _ onPhoto: (PhotoFile, PhotoFile.Outcome) -> Void
) async throws {
    if files.isEmpty { return }
    // The first photo is decoded while the model is compiled and its weights are read: a large one
    // only if no other takes memory meanwhile.
    let first = files.first.flatMap { file -> DecodedPhoto? in
        if options.skipsFinished, file.isFinished { return nil }
        let pixels = Image.statedPixels(ofFileAt: file.photo)
        return files.count == 1 || PhotoMemory.isSmall(pixels) ? DecodedPhoto(file) : nil
    }
    let painter = try FilePainter(model, options, count: files.count, first)
    let folders = Set(files.map { $0.output.filePath.removingLastComponent() })
    let newFolders = try folders.filter { try !$0.isEmpty && FileKind(at: $0) == .nothing }
    for folder in folders where !folder.isEmpty { try createFolder(folder) }
    // Those that got no photo go.
    defer { for folder in newFolders { rmdir(folder.string) } }
    let tasks = OrderedTasks<PhotoFile.Outcome>()
    var started = files[...], finished = files[...]
    while true {
        while !Task.isCancelled, tasks.count < painter.limit, let file = started.popFirst() {
            tasks.append { try await painter.paint(file) }
        }
        guard let task = tasks.removeFirst(), let file = finished.popFirst() else { break }
        // Photos that wait for a thread are cancelled, photos in progress are written.
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
            tasks.cancel()
        }
        if let outcome = try? result.get() { onPhoto(file, outcome) }
    }
}

/// A photo that is decoded on its own thread.
private struct DecodedPhoto: Sendable {
    let path: String
    let task: Task<(image: Image, metadata: ImageMetadata), any Error>

    init(_ file: PhotoFile) {
        let path = file.photo
        self.path = path
        task = Task {
            try await onNewThread { _ in try Image.withMetadata(contentsOf: path) }
        }
    }
}

/// Colors the photos of files on worker threads.
private final class FilePainter: Sendable {
    private let colorizer: Colorizer
    private let before: Colorizer?
    private let options: PhotoColoringOptions
    private let writers: WorkerThreads
    /// The first photo until it is colored, because it takes memory.
    private let first: Mutex<DecodedPhoto?>
    private let memory: PhotoMemory

    /// The number of photos in progress or waiting, both in order.
    var limit: Int { 2 * colorizer.workerCount }

    /// - Parameter first: the first photo, which is being decoded.
    init(
        _ model: Model, _ options: PhotoColoringOptions, count: Int, _ first: DecodedPhoto?
    ) throws {
        func colorizer(_ model: Model) throws -> Colorizer {
            try Colorizer(
                model, size: options.size, fitting: options.fitting, workers: count)
        }
        self.options = options
        self.first = Mutex(first)
        self.colorizer = try colorizer(model)
        before = try options.before.map(colorizer)
        writers = WorkerThreads(self.colorizer.workerCount, name: "retint.files")
        memory = PhotoMemory(threads: self.colorizer.workerCount)
    }

    /// - Throws: only `CancellationError`: other errors are outcomes.
    func paint(_ file: PhotoFile) async throws -> PhotoFile.Outcome {
        if options.skipsFinished, file.isFinished { return .skipped }
        do {
            let pixels = Image.statedPixels(ofFileAt: file.photo)
            let (outputs, notes) = try await memory.holding(pixels) {
                let decoded = await takeFirst(for: file)?.task.result
                return try await colorizer.workers.run { [self] _, _ in
                    try encoded(file, decoded?.get() ?? Image.withMetadata(contentsOf: file.photo))
                }
            }
            // Colored photos are written even if the task is cancelled now.
            try await Task { [writers] in
                try await writers.run { _, _ in for output in outputs { try output.write() } }
            }.value
            return .colored(notes: notes)
        } catch let error as CancellationError {
            throw error
        } catch {
            return .failed(error)
        }
    }

    /// The first photo if it is that of a file, once.
    private func takeFirst(for file: PhotoFile) -> DecodedPhoto? {
        first.withLock { first in
            guard let photo = first, photo.path == file.photo else { return nil }
            first = nil
            return photo
        }
    }

    private struct Output {
        let path: String
        let bytes: [UInt8]

        func write() throws { try AtomicFile.write(bytes, to: path) }
    }

    /// The colored copy of a photo and its strip, ready to be written.
    private func encoded(
        _ file: PhotoFile, _ decoded: (image: Image, metadata: ImageMetadata)
    ) throws -> (outputs: [Output], notes: [String]) {
        let (photo, metadata) = decoded
        let threads = colorizer.threads.each
        let region = try region(of: photo, file)
        let colored = try colorizer.colored(photo, options.saturation, in: region)
        let copy = try colored.encode(
            file.format, metadata: metadata, file: file.output, threads: threads)
        var outputs = [Output(path: file.output, bytes: copy)]
        if let strip = file.strip {
            let earlier = try before?.colored(photo, options.saturation, in: region)
            let images = [photo.gray, earlier, colored, photo].compactMap { $0 }
            let bytes = try Image.sideBySide(images)
                .encode(file.format, file: strip, threads: threads)
            outputs.append(Output(path: strip, bytes: bytes))
        }
        return (outputs, metadata.notes(writing: file.format))
    }

    private func region(of photo: Image, _ file: PhotoFile) throws -> ColoredRegion {
        let mask = try options.masks?.mask(for: file, width: photo.width, height: photo.height)
        let corners = options.quadrilateral
        try corners?.check(width: photo.width, height: photo.height, photo: file.photo)
        return ColoredRegion(mask: mask, quadrilateral: corners, blend: options.blend)
    }
}
