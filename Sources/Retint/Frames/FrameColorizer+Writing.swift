import Films
import Frames

// Coloring a film from its reader to its writer.

extension FrameColorizer {
    /// Colors all frames, or the newest ones of a live source.
    func write(
        _ reader: Y4MReader, _ writer: Y4MWriter, isLive: Bool, _ onFrame: (Int) -> Void
    ) async throws -> ColoredFilm {
        if isLive { return try await writeLive(reader, writer, onFrame) }
        var film = ColoredFilm()
        for try await frame in colorized(reader.frames) {
            try writer.write(frame)
            film.frames += 1
            onFrame(film.frames)
        }
        film.unseenAnchors = unseenAnchors
        return film
    }

    /// Colors the newest frames of a live source.
    private func writeLive(
        _ reader: Y4MReader, _ writer: Y4MWriter, _ onFrame: (Int) -> Void
    ) async throws -> ColoredFilm {
        var film = ColoredFilm()
        let frames = latest(of: reader.frames)
        for try await frame in frames {
            try writer.write(frame)
            film.frames += 1
            onFrame(film.frames)
        }
        (film.droppedFrames, film.unseenAnchors) = (frames.droppedCount, unseenAnchors)
        return film
    }

    /// Writes a film in parts, from the first one that is not there.
    func write(
        _ reader: Y4MReader, _ parts: FilmParts, _ writing: FilmWritingOptions,
        _ onFrame: (Int) -> Void
    ) async throws -> ColoredFilm {
        var parts = parts, plain = writing
        plain.source = nil
        let header = reader.header.colored
        do {
            // Colors follow those of the frames before: the last finished part is colored again.
            let start = parts.count * FilmParts.length
            var film = ColoredFilm()
            while film.frames < start - FilmParts.length, try reader.next() != nil {
                film.frames += 1
            }
            var frames = colorized(reader.frames, from: film.frames).makeAsyncIterator()
            while film.frames < start, try await frames.next() != nil { film.frames += 1 }
            var next = try await frames.next()
            while next != nil {
                try await parts.append(header, plain) { writer in
                    for _ in 0..<FilmParts.length {
                        guard let frame = next else { return }
                        try writer.write(frame)
                        film.frames += 1
                        onFrame(film.frames)
                        next = try await frames.next()
                    }
                }
            }
            try await parts.join(writing)
            parts.remove()
            film.unseenAnchors = unseenAnchors
            return film
        } catch {
            // What is there can be played; the parts stay. The task may be cancelled.
            let finished = parts
            try? await Task { try await finished.join(writing) }.value
            throw error
        }
    }
}
