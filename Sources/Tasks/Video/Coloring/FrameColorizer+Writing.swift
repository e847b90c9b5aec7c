// Coloring a video from its reader to its writer.

extension FrameColorizer {
    /// Colors all frames, or the newest ones of a live source.
    package func write(
        _ reader: FrameReader, _ writer: FrameWriter, isLive: Bool, _ onFrame: (Int) -> Void
    ) async throws -> ColoredVideo {
        if isLive { return try await writeLive(reader, writer, onFrame) }
        var video = ColoredVideo()
        for try await frame in colorized(reader.frames) {
            try write(frame, writer)
            video.frames += 1
            onFrame(video.frames)
        }
        video.unseenAnchors = unseenAnchors
        return video
    }

    package func write(_ frame: Frame, _ writer: FrameWriter) throws {
        try clock.measure(.output) { try writer.write(frame) }
    }

    /// Colors the newest frames of a live source.
    private func writeLive(
        _ reader: FrameReader, _ writer: FrameWriter, _ onFrame: (Int) -> Void
    ) async throws -> ColoredVideo {
        var video = ColoredVideo()
        let frames = latest(of: reader.frames)
        for try await frame in frames {
            try write(frame, writer)
            video.frames += 1
            onFrame(video.frames)
        }
        (video.droppedFrames, video.unseenAnchors) = (frames.droppedCount, unseenAnchors)
        return video
    }

    /// Writes a video in segments, from the first missing one. They are joined, and kept.
    package func write(
        _ reader: FrameReader, _ parts: VideoParts, _ writing: VideoWritingOptions,
        _ onFrame: (Int) -> Void
    ) async throws -> ColoredVideo {
        var parts = parts, video = ColoredVideo()
        let start = parts.finishedFrames
        do {
            try await write(reader, &parts, &video, writing, onFrame)
            try await parts.join(writing)
            // The finished segments may match the others.
            if start == 0 { video.unseenAnchors = unseenAnchors }
            return video
        } catch {
            // The finished segments can be played, and stay. The task may be cancelled.
            let written = Double(max(video.frames, start)), rate = reader.header.frameRate
            let (finished, end) = (parts, rate.map { written / $0.value })
            try? await Task { try await finished.join(writing, upTo: end) }.value
            throw error
        }
    }

    private func write(
        _ reader: FrameReader, _ parts: inout VideoParts, _ video: inout ColoredVideo,
        _ writing: VideoWritingOptions, _ onFrame: (Int) -> Void
    ) async throws {
        let header = reader.header.colored
        var plain = writing
        plain.source = nil
        // Colors follow those of previous frames: the last finished segment is colored again.
        let start = parts.finishedFrames
        while video.frames < start - VideoParts.length, try reader.next() != nil {
            video.frames += 1
            try Task.checkCancellation()
        }
        var frames = colorized(reader.frames, from: video.frames).makeAsyncIterator()
        while video.frames < start, try await frames.next() != nil { video.frames += 1 }
        var next = try await frames.next()
        while next != nil {
            try await parts.append(header, plain) { writer in
                for _ in 0..<VideoParts.length {
                    guard let frame = next else { return }
                    try write(frame, writer)
                    video.frames += 1
                    onFrame(video.frames)
                    next = try await frames.next()
                }
            }
        }
    }
}
