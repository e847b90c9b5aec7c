import RetintVideo

// Coloring a video from its reader to its writer.

extension FrameColorizer {
    /// Colors all frames, or the newest ones of a live source.
    package func write(
        _ reader: FrameReader, _ writer: FrameWriter, isLive: Bool, _ onFrame: (Int) -> Void
    ) async throws -> ColoredFilm {
        if isLive { return try await writeLive(reader, writer, onFrame) }
        var film = ColoredFilm()
        for try await frame in colorized(reader.frames) {
            try write(frame, writer)
            film.frames += 1
            onFrame(film.frames)
        }
        film.unseenAnchors = unseenAnchors
        return film
    }

    package func write(_ frame: Frame, _ writer: FrameWriter) throws {
        try clock.measure(.output) { try writer.write(frame) }
    }

    /// Colors the newest frames of a live source.
    private func writeLive(
        _ reader: FrameReader, _ writer: FrameWriter, _ onFrame: (Int) -> Void
    ) async throws -> ColoredFilm {
        var film = ColoredFilm()
        let frames = latest(of: reader.frames)
        for try await frame in frames {
            try write(frame, writer)
            film.frames += 1
            onFrame(film.frames)
        }
        (film.droppedFrames, film.unseenAnchors) = (frames.droppedCount, unseenAnchors)
        return film
    }

    /// Writes a video in segments, from the first missing one. They are joined, and kept.
    package func write(
        _ reader: FrameReader, _ parts: FilmParts, _ writing: FilmWritingOptions,
        _ onFrame: (Int) -> Void
    ) async throws -> ColoredFilm {
        var parts = parts, film = ColoredFilm()
        let start = parts.finishedFrames
        do {
            try await write(reader, &parts, &film, writing, onFrame)
            try await parts.join(writing)
            // The finished segments may match the others.
            if start == 0 { film.unseenAnchors = unseenAnchors }
            return film
        } catch {
            // The finished segments can be played, and stay. The task may be cancelled.
            let written = Double(max(film.frames, start)), rate = reader.header.frameRate
            let (finished, end) = (parts, rate.map { written / $0.value })
            try? await Task { try await finished.join(writing, upTo: end) }.value
            throw error
        }
    }

    private func write(
        _ reader: FrameReader, _ parts: inout FilmParts, _ film: inout ColoredFilm,
        _ writing: FilmWritingOptions, _ onFrame: (Int) -> Void
    ) async throws {
        let header = reader.header.colored
        var plain = writing
        plain.source = nil
        // Colors follow those of previous frames: the last finished segment is colored again.
        let start = parts.finishedFrames
        while film.frames < start - FilmParts.length, try reader.next() != nil {
            film.frames += 1
            try Task.checkCancellation()
        }
        var frames = colorized(reader.frames, from: film.frames).makeAsyncIterator()
        while film.frames < start, try await frames.next() != nil { film.frames += 1 }
        var next = try await frames.next()
        while next != nil {
            try await parts.append(header, plain) { writer in
                for _ in 0..<FilmParts.length {
                    guard let frame = next else { return }
                    try write(frame, writer)
                    film.frames += 1
                    onFrame(film.frames)
                    next = try await frames.next()
                }
            }
        }
    }
}
