import Foundation
import Retint
import RetintCheckpoints
import RetintCommandSupport
import RetintTensorFiles
import RetintTestSupport
import Testing

/// `retint video` where only a part of a video gets new colors.
@Suite(.sampled()) struct VideoMaskTests {
    private let bench: CommandBench

    init() throws {
        bench = try CommandBench()
        var checkpoint = try Checkpoint(.named("mobile-unet"), seed: 1)
        checkpoint.state["head.0.bias"] = StoredTensor(shape: [2], floats: [0.1, 0.15])
        try checkpoint.write(to: bench.path("warm.h5"))
    }

    private func makeVideo(_ name: String, frames: Int = 4, layout: String = "420jpeg") throws {
        let header = try Y4MHeader("YUV4MPEG2 W40 H24 F25:1 Ip C\(layout) XCOLORRANGE=FULL")
        let format = header.format
        let luma = format.width * format.height
        let samples = luma + 2 * format.chromaWidth * format.chromaHeight
        var data = Data("\(header.line)\n".utf8)
        for frame in 0..<frames {
            data += Data("FRAME\n".utf8)
            data += (0..<samples).flatMap { index -> [UInt8] in
                // Gray values in the middle, and colors near neutral.
                let level = 110 + (index * 7 + frame * 3) % (index < luma ? 40 : 20)
                return format.bitDepth > 8
                    ? [UInt8(level * 4 & 255), UInt8(level * 4 >> 8)] : [UInt8(level)]
            }
        }
        _ = try bench.write(data, to: name)
    }

    private func makeMask(
        _ name: String, width: Int = 40, height: Int = 24, _ level: (Int) -> UInt8
    ) throws {
        let pixels = (0..<width * height).flatMap {
            [UInt8](repeating: level($0 % width), count: 3)
        }
        try Image(width: width, height: height, pixels: pixels).write(to: bench.path(name))
    }

    private func frames(_ name: String) throws -> [Frame] {
        let reader = try FrameReader(contentsOf: bench.path(name))
        var frames: [Frame] = []
        while let frame = try reader.next() { frames.append(frame) }
        return frames
    }

    private func color(_ options: String..., video: String = "video.y4m") throws -> [Frame] {
        let result = try bench.run(["video", "warm.h5", video, "-o", "out.y4m"] + options)
        #expect(result.code == 0, "\(result.messages)")
        return try frames("out.y4m")
    }

    /// The Cb samples of columns of a frame.
    private func cb(_ frame: Frame, _ columns: Range<Int>) -> [[UInt8]] {
        guard let plane = frame.cb else { return [] }
        let bytes = frame.format.bytesPerSample
        return (0..<frame.format.chromaHeight).map { row in
            let start = row * plane.bytesPerRow
            return Array(
                plane.bytes[start + columns.lowerBound * bytes..<start + columns.upperBound * bytes]
            )
        }
    }

    @Test(arguments: ["420jpeg", "422", "444", "420p10", "444p10"])
    func colorsStayWhereTheMaskIsBlack(_ layout: String) throws {
        try makeVideo("video.y4m", layout: layout)
        try makeMask("mask.png") { $0 < 20 ? 0 : 255 }
        let before = try frames("video.y4m"), whole = try color(),
            after = try color("--mask", "mask.png")
        #expect(after.count == 4)
        for index in after.indices {
            let (own, new, mixed) = (before[index], whole[index], after[index])
            #expect(mixed.luma.bytes == own.luma.bytes)
            let half = own.format.chromaWidth / 2
            #expect(cb(mixed, 0..<half) == cb(own, 0..<half))
            #expect(cb(mixed, half..<2 * half) == cb(new, half..<2 * half))
            #expect(cb(new, 0..<half) != cb(own, 0..<half))
        }
    }

    @Test func monoVideosStayGrayThere() throws {
        try makeVideo("video.y4m", layout: "mono")
        try makeMask("mask.png") { $0 < 20 ? 0 : 255 }
        for frame in try color("--mask", "mask.png") {
            #expect(cb(frame, 0..<10).joined().allSatisfy { $0 == 128 })
            #expect(cb(frame, 10..<20).joined().allSatisfy { $0 < 126 })
        }
    }

    @Test func blendKeepsAShareOfTheColors() throws {
        try makeVideo("video.y4m")
        let before = try frames("video.y4m"), whole = try color()
        #expect(try color("--blend", "0") == before)
        #expect(try color("--blend", "1") == whole)
        let half = try color("--blend", "0.5")
        for index in half.indices {
            let (own, new) = (cb(before[index], 0..<20).joined(), cb(whole[index], 0..<20).joined())
            for ((first, second), mixed) in zip(zip(own, new), cb(half[index], 0..<20).joined()) {
                #expect(abs(Double(mixed) - (Double(first) + Double(second)) / 2) <= 0.5)
            }
        }
    }

    @Test(arguments: [[], ["--no-stable-colors", "--threads", "3"]])
    func framesHaveTheirOwnMasks(_ options: [String]) throws {
        try makeVideo("video.y4m")
        try bench.makeDirectory("masks")
        for index in 0..<4 {
            try makeMask("masks/00\(index).png") { $0 < 10 * index ? 0 : 255 }
        }
        let before = try frames("video.y4m")
        let after = try {
            let all =
                ["video", "warm.h5", "video.y4m", "-o", "out.y4m", "--mask", "masks"] + options
            let result = try bench.run(all)
            #expect(result.code == 0, "\(result.messages)")
            return try frames("out.y4m")
        }()
        for index in 0..<4 {
            #expect(cb(after[index], 0..<5 * index) == cb(before[index], 0..<5 * index))
            let rest = 5 * index..<20
            for (new, own) in zip(cb(after[index], rest), cb(before[index], rest)) {
                #expect(new != own)
            }
        }
    }

    @Test func instancesAreChosen() throws {
        try makeVideo("video.y4m")
        let before = try frames("video.y4m")
        // 60 × 40: of another size.
        try bench.expect(
            65, "video", "warm.h5", "video.y4m", "-o", "x.y4m", "--mask",
            goldenPath("instances8.png"), "--instances", "2",
            says: ["instances8.png: has 60 × 40 pixels and video.y4m has 40 × 24"])
        #expect(!bench.files.contains("x.y4m"))
        let after = try color("--mask", goldenPath("instances-video.png"), "--instances", "2")
        for (own, new) in zip(before, after) {
            #expect(cb(own, 0..<10) == cb(new, 0..<10))
            #expect(cb(own, 10..<15) != cb(new, 10..<15))
            #expect(cb(own, 15..<20) == cb(new, 15..<20))
        }
        try bench.expect(
            65, "video", "warm.h5", "video.y4m", "-o", "x.y4m", "--mask",
            goldenPath("instances-video.png"), "--instances", "7",
            says: ["has no instance 7; it has 1, 2, 3"])
    }

    /// A folder's masks need not show all instances, but one of them has to show each.
    @Test func instancesMayLeaveTheVideo() throws {
        try makeVideo("video.y4m")
        try bench.makeDirectory("masks")
        let mask = try Data(contentsOf: URL(filePath: goldenPath("instances-video.png")))
        for index in 0..<3 { _ = try bench.write(mask, to: "masks/\(index).png") }
        // One whose pixels are all background.
        try makeMask("black.png") { _ in 0 }
        try bench.ffmpeg("-i", "black.png", "-pix_fmt", "gray", "masks/3.png")
        let before = try frames("video.y4m")
        let after = try color("--mask", "masks", "--instances", "2")
        #expect(zip(before, after).map { $0 != $1 } == [true, true, true, false])
        try bench.expect(
            65, "video", "warm.h5", "video.y4m", "-o", "x.y4m", "--mask", "masks", "--instances",
            "2,7", says: ["masks: none of the masks used has instance 7"])
        #expect(try frames("x.y4m") == after)
    }

    /// 10.png comes after 9.png, and what is in a subfolder is not a mask.
    @Test func masksAreInTheOrderOfTheirNumbers() throws {
        try makeVideo("video.y4m", frames: 12)
        try bench.makeDirectory("masks/old")
        for index in 0..<12 { try makeMask("masks/\(index).png") { _ in index == 2 ? 255 : 0 } }
        try makeMask("masks/old/0.png") { _ in 255 }
        let before = try frames("video.y4m"), after = try color("--mask", "masks")
        #expect(after.indices.filter { before[$0] != after[$0] } == [2])
    }

    @Test(arguments: ["420jpeg", "444", "mono", "420p10"])
    func aPictureInPerspectiveIsColored(_ layout: String) throws {
        try makeVideo("video.y4m", layout: layout)
        let before = try frames("video.y4m"), whole = try color()
        let after = try color("--quad", "10,2", "34,4", "32,22", "12,20")
        try makeMask("mask.png") { $0 < 20 ? 0 : 255 }
        let both = try color("--mask", "mask.png", "--quad", "10,2 34,4 32,22 12,20")
        for index in after.indices {
            let (own, new, mixed) = (before[index], whole[index], after[index])
            #expect(mixed.luma.bytes == own.luma.bytes)
            let scale = own.format.colored.chromaWidth / 20
            let rows =
                8 * own.format.colored.chromaHeight / 24..<16 * own.format.colored.chromaHeight / 24
            #expect(cb(mixed, 0..<4 * scale) == kept(own, 0..<4 * scale))
            #expect(cb(mixed, 18 * scale..<20 * scale) == kept(own, 18 * scale..<20 * scale))
            // The model gives one color wherever it looks.
            let inside = 8 * scale..<14 * scale
            #expect(levels(mixed, inside, rows).count > 20)
            for (found, expected) in zip(levels(mixed, inside, rows), levels(new, inside, rows)) {
                #expect(abs(found - expected) <= (own.format.bitDepth == 8 ? 2 : 6))
            }
            #expect(cb(both[index], 0..<10 * scale) == kept(own, 0..<10 * scale))
            #expect(
                levels(both[index], 11 * scale..<14 * scale, rows)
                    == levels(mixed, 11 * scale..<14 * scale, rows))
        }
        try bench.expect(
            65, "video", "warm.h5", "video.y4m", "-o", "x.y4m", "--quad", "0,0 40,0 40,25 0,24",
            says: ["video.y4m: the corner 40,25 is outside its 40 × 24 pixels"])
        try bench.expect(
            64, "video", "warm.h5", "video.y4m", "-o", "x.y4m", "--quad", "0,0 40,0",
            says: ["not four corners"])
        try bench.expect(
            64, "video", "warm.h5", "video.y4m", "-o", "x.y4m", "--quad", "0,0 40,0 40,24 0,24",
            "--anchor", "mask.png", says: ["no effect with --quad"])
        #expect(!bench.files.contains("x.y4m"))
    }

    /// The Cb samples that a video keeps; those of mono videos are neutral.
    private func kept(_ frame: Frame, _ columns: Range<Int>) -> [[UInt8]] {
        guard frame.cb == nil else { return cb(frame, columns) }
        let row = [UInt8](repeating: 128, count: columns.count)
        return [[UInt8]](repeating: row, count: frame.format.colored.chromaHeight)
    }

    private func levels(_ frame: Frame, _ columns: Range<Int>, _ rows: Range<Int>) -> [Int] {
        let bytes = cb(frame, columns)[rows].joined().map { Int($0) }
        guard frame.format.bitDepth > 8 else { return bytes }
        return stride(from: 0, to: bytes.count, by: 2).map { bytes[$0] + bytes[$0 + 1] << 8 }
    }

    /// What was colored before a mask that does not fit is kept.
    @Test func wrongMasksAreErrorsWhereTheyAreNoticed() throws {
        try makeVideo("video.y4m")
        try bench.makeDirectory("few")
        for index in 0..<3 { try makeMask("few/\(index).png") { _ in 0 } }
        try bench.expect(
            65, "video", "warm.h5", "video.y4m", "-o", "few.y4m", "--mask", "few",
            says: ["video.y4m: frame 4: has no mask: few has masks for 3 frames; add the others"])
        #expect(try frames("few.y4m").count == 3)
        for index in 3..<6 { try makeMask("few/\(index).png") { _ in 0 } }
        try bench.expect(
            65, "video", "warm.h5", "video.y4m", "-o", "many.y4m", "--mask", "few",
            says: ["few: has 6 masks, but video.y4m has 4 frames"])
        #expect(try frames("many.y4m") == frames("video.y4m"))
        try makeMask("few/2.png", width: 41) { _ in 0 }
        try bench.expect(
            65, "video", "warm.h5", "video.y4m", "-o", "size.y4m", "--mask", "few",
            says: ["few/2.png: has 41 × 24 pixels and frame 3 of video.y4m has 40 × 24"])
        #expect(try frames("size.y4m").count == 2)
        // A video without frames is not a video.
        try makeMask("few/0.png", width: 41) { _ in 0 }
        try bench.expect(
            65, "video", "warm.h5", "video.y4m", "-o", "none.y4m", "--mask", "few",
            says: ["few/0.png: has 41 × 24 pixels"])
        #expect(!bench.files.contains("none.y4m"))
        try bench.expect(
            64, "video", "warm.h5", "video.y4m", "-o", "x.y4m", "--blend", "2",
            says: ["--blend 2.0: must be from 0 to 1"])
    }
}
