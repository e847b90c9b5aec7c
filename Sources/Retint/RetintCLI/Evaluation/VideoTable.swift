import Retint

extension VideoReport {
    /// One table for all kinds of videos.
    var table: TextTable {
        var table = TextTable(
            header: ["", "ΔE2000", "ab error", "colorfulness", "warp error", "CDC"],
            rightAligned: Set(1...5))
        for mean in means {
            table.append(["\(mean.kind), stable colors"] + mean.stable.cells)
            table.append(["\(mean.kind), each frame alone"] + mean.perFrame.cells)
            table.append(["\(mean.kind), original"] + mean.original.cells)
        }
        return table
    }

    /// A description such as `clips of 219 photos at 256 × 256, 48 frames each`.
    var summary: String {
        let frames = videos.reduce(0) { $0 + $1.frames }, cuts = videos.reduce(0) { $0 + $1.cuts }
        return "\(Format.counted(videos.count, "video")) at \(width) × \(height), "
            + "\(Format.counted(frames, "frame")), \(Format.counted(cuts, "scene cut"))"
    }
}

extension VideoReport.Quality {
    fileprivate var cells: [String] {
        [
            Format.fixed(deltaE2000, 2), Format.fixed(abError, 2), Format.fixed(colorfulness, 2),
            warpError.map { Format.fixed($0, 3) } ?? "", cdc.map { Format.fixed($0, 5) } ?? "",
        ]
    }
}
