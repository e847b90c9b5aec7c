import RetintColoring
import RetintDistributed
import RetintEngine
import RetintImages
import RetintLocks
import RetintPhotoData
import RetintRuntime
import RetintVideo

extension Model {
    /// Measures how steadily a model colors clips made from photos: a pan, a zoom and a change
    /// of the exposure of each, whose motion is known exactly.
    ///
    ///     let photos = try PhotoReference.list("photos")
    ///     let report = try await Model(contentsOf: "colorizer.h5").evaluateVideo(on: photos)
    ///     for mean in report.means { print(mean.kind, mean.stable.warpError ?? 0) }
    ///
    /// - Parameters:
    ///   - photos: the photos, in color; those that cannot be read are skipped and listed.
    ///   - size: the side of the network's square input in pixels; nil for a package's own size and
    ///     256 for a checkpoint. As many photos are measured at the same time as the model has
    ///     threads.
    ///   - ranks: the processes that split the photos, as for `evaluate`.
    ///   - onProgress: called on other threads.
    /// - Throws: ``EvaluationError`` if no photo can be read; `ModelError` if the model is not a
    ///   colorizer, does not run at that size or returns colors that are not finite;
    ///   `CancellationError` if the task is cancelled; `RankError` if ranks cannot reach each
    ///   other.
    public func evaluateVideo(
        on photos: [PhotoReference], size: Int? = nil,
        ranks: Communicator = .single,
        onProgress: @escaping @Sendable (EvaluationReport.Progress) -> Void = { _ in }
    ) async throws -> VideoReport {
        let own = try self.size(ofSide: size)
        let indices = ranks.ownIndices(of: photos.count)
        let results = ClipResults(indices, of: photos.count, ranks, onProgress)
        let workers = min(execution.threadCount, max(indices.count, 1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<workers {
                group.addTask {
                    try await onNewThread { isCancelled in
                        let evaluator = VideoEvaluator(try videoProgram(own))
                        while let index = results.take() {
                            try checkCancellation(isCancelled)
                            results.finish(
                                index, try clips(of: photos[index], index, own, evaluator))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let (videos, failures) = try await onNewThread { _ in try results.gathered(photos, ranks) }
        failures.forEach { onProgress(.failed($0)) }
        guard !videos.isEmpty else { throw EvaluationError(failures: failures) }
        return VideoReport(
            model: name, height: own.height, width: own.width, videos: videos, failures: failures)
    }

    /// Measures how steadily a model colors a video whose colors are known.
    ///
    /// The motion is estimated from the video's lightness, by the same method that keeps the colors
    /// stable.
    ///
    /// - Parameters:
    ///   - video: the path of a video in color, YUV4MPEG2 or any that `ffmpeg` reads.
    ///   - reading: how to read the video if it does not state this itself.
    ///   - size: see ``evaluateVideo(on:size:ranks:onProgress:)``.
    ///   - onFrame: called with the number of frames that were measured.
    /// - Throws: `VideoError` and `FrameError` for a video that cannot be read or has no color;
    ///   `ModelError` if the model is not a colorizer, does not run at that size or returns colors
    ///   that are not finite; `CancellationError` if the task is cancelled.
    public func evaluateVideo(
        video: String, _ reading: VideoReadingOptions = .init(), size: Int? = nil,
        onFrame: (Int) -> Void = { _ in }
    ) async throws -> VideoReport {
        let own = try self.size(ofSide: size)
        let evaluator = VideoEvaluator(try videoProgram(own))
        return try await withVideo(video, reading) { open in
            let format = open.reader.header.format
            guard format.chroma != .mono else {
                throw FrameError(.format, file: video, "has no color to compare with")
            }
            let reducer = FrameReducer(format, width: own.width, height: own.height)
            var count = 0
            for try await frame in open.reader.frames {
                try Task.checkCancellation()
                try evaluator.add(reducer.image(of: frame))
                count += 1
                onFrame(count)
            }
            guard let result = evaluator.finish(video, kind: "video") else {
                throw FrameError(.truncated, file: video, "has no frames")
            }
            return VideoReport(
                model: name, height: own.height, width: own.width, videos: [result], failures: [])
        }
    }
}

/// The result of measuring a photo.
private enum PhotoClips: Codable {
    case videos([VideoReport.Video])
    case failure(ImageError)
}

/// Measures the three clips of a photo.
private func clips(
    of photo: PhotoReference, _ index: Int, _ size: (height: Int, width: Int),
    _ evaluator: VideoEvaluator
) throws -> PhotoClips {
    let image: Image
    do {
        image = try photo.image()
    } catch {
        return .failure(error)
    }
    let videos: [VideoReport.Video] = try PhotoClip.Kind.allCases.compactMap { kind in
        let clip = PhotoClip(
            image, kind, index: index, width: size.width, height: size.height)
        for number in 0..<PhotoClip.frameCount {
            try evaluator.add(
                clip.frame(number), exactMotion: number > 0 ? clip.motion(number) : nil)
        }
        return evaluator.finish("\(photo)", kind: kind.rawValue)
    }
    return .videos(videos)
}

extension Model {
    /// The network on one thread, with its confidence.
    fileprivate func videoProgram(_ size: (height: Int, width: Int)) throws -> ModelProgram {
        guard min(size.height, size.width) >= LightnessPyramid.minimumSide else {
            throw ModelError(
                .size, name,
                "motion is not visible at \(size.width) × \(size.height); use a size of at least "
                    + "\(LightnessPyramid.minimumSide)")
        }
        return try onThreads(1).program(
            height: size.height, width: size.width, estimatesConfidence: true)
    }
}

/// The clips of this rank's photos.
private final class ClipResults: Sendable {
    private struct State {
        var next = 0
        var clips: [Int: PhotoClips] = [:]
    }

    private let state = Mutex(State())
    private let indices: [Int]
    private let progress: SharedProgress

    /// - Parameters:
    ///   - indices: the indices of this rank's photos.
    ///   - count: the number of all photos.
    init(
        _ indices: [Int], of count: Int, _ ranks: Communicator,
        _ onProgress: @escaping @Sendable (EvaluationReport.Progress) -> Void
    ) {
        self.indices = indices
        progress = SharedProgress(count, ranks) { onProgress(.colored(photos: $0, total: count)) }
    }

    /// The index of the next photo; nil if all were taken.
    func take() -> Int? {
        state.withLock { state in
            guard state.next < indices.count else { return nil }
            defer { state.next += 1 }
            return indices[state.next]
        }
    }

    func finish(_ index: Int, _ clips: PhotoClips) {
        let finished = state.withLock { state in
            state.clips[index] = clips
            return state.clips.count
        }
        progress.update(finished)
    }

    /// The videos and failures of all ranks, in the order of the photos.
    func gathered(
        _ photos: [PhotoReference], _ ranks: Communicator
    ) throws -> (videos: [VideoReport.Video], failures: [VideoReport.Failure]) {
        let own = state.withLock { state in indices.compactMap { state.clips[$0] } }
        let all = try ranks.gather(own, of: photos.count)
        progress.finish()
        var (videos, failures) = ([VideoReport.Video](), [VideoReport.Failure]())
        for (photo, clips) in zip(photos, all) {
            switch clips {
            case .videos(let clips): videos += clips
            case .failure(let error): failures.append(.init(photo: photo, error: error))
            }
        }
        return (videos, failures)
    }
}
