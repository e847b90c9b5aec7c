import Foundation
import RetintCommandSupport
import RetintImages
import RetintLayers
import RetintTensorFiles
import RetintTensors
import RetintTestSupport
import Testing

/// `retint dataset`, and training on what it makes.
@Suite(.sampled()) struct DatasetTests {
    private let bench: CommandBench

    init() throws { bench = try CommandBench() }

    /// Pictures that tell each other apart, and one of each kind that is left out.
    private func writePhotos(_ count: Int) throws {
        let folder = bench.path("photos")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for number in 0..<count {
            try photo(number).write(to: "\(folder)/\(number).png")
        }
        let first = photo(0)
        try first.resized(to: 96, height: 80).write(to: "\(folder)/small-copy.png")
        try first.flippedHorizontally().write(to: "\(folder)/mirrored.png")
        try Image(width: 96, height: 80, red: 90, green: 90, blue: 90)
            .write(to: "\(folder)/gray.png")
        try Data("no photo".utf8).write(to: URL(filePath: "\(folder)/broken.jpg"))
    }

    private func photo(_ number: Int) -> Image {
        var random = RandomStream(seed: 5, name: "photo \(number)")
        let tiles = (0..<240).map { _ in UInt8(random.next() % 256) }
        let pixels = (0..<80 * 96).flatMap { place -> [UInt8] in
            let tile = place / 96 / 10 * 10 + place % 96 / 10
            return Array(tiles[3 * tile..<3 * tile + 3])
        }
        return Image(width: 96, height: 80, pixels: pixels)
    }

    @Test func inspectSaysWhatIsLeftOut() throws {
        try writePhotos(4)
        let result = try bench.expect(
            0, "dataset", "inspect", "photos",
            says: [
                "broken.jpg: broken: ", "gray.png: gray: ",
                "mirrored.png: duplicate of photos/0.png",
            ])
        #expect(result.output.hasPrefix("4 photos, median 96 × 80"))
        #expect(result.output.contains("left out 1 broken, 2 duplicate, 1 gray"))
        let json = try bench.expect(0, "dataset", "inspect", "photos", "--json").output
        #expect(json.contains("\"photos\" : 4") && json.contains("\"kind\" : \"duplicate\""))
        try bench.expect(65, "dataset", "inspect", "nowhere", says: ["nowhere"])
        try FileManager.default.createDirectory(
            atPath: bench.path("empty"), withIntermediateDirectories: true)
        try bench.expect(65, "dataset", "inspect", "empty", says: ["contains no photo"])
    }

    @Test func aNameThatIsNotUTF8IsLeftOut() throws {
        try writePhotos(2)
        try bench.copyToOtherBytes("photos/0.png")
        let words = #"left out photos/caf\xE9.png: cannot read: its name is not UTF-8"#
        try bench.expect(0, "dataset", "pack", "photos", "-o", "pack.h5", says: [words])
        let reader = try HDF5Reader(path: bench.path("pack.h5"))
        #expect(try reader.datasetNames(under: "photos") == ["0.png", "1.png"])
    }

    /// Neither a partial file nor a lock.
    @Test(arguments: [SIGINT, SIGTERM]) func aSignalLeavesNothing(signal: Int32) throws {
        try bench.makeDirectory("photos")
        for number in 0..<12 {
            try photo(number).resized(to: 1920, height: 1600)
                .write(to: bench.path("photos/\(number).png"))
        }
        let before = bench.files
        let process = try bench.start("dataset", "pack", "photos", "-o", "pack.h5")
        while process.isRunning, !bench.files.contains(where: { $0.hasSuffix("retint-partial") }) {
            Thread.sleep(forTimeInterval: 0.005)
        }
        kill(process.identifier, signal)
        let result = try process.wait(limit: 60)
        #expect(result.isSignaled && result.code == signal, "\(result.messages)")
        #expect(bench.files == before)
    }

    @Test func photosThatAreAllLeftOutAreNoDataset() throws {
        try bench.makeDirectory("gray")
        try Image(width: 64, height: 64, pixels: [UInt8](repeating: 9, count: 12_288))
            .write(to: bench.path("gray/a.png"))
        _ = try bench.write(Data("nowhere.png\n".utf8), to: "list.txt")
        for source in ["gray", "list.txt"] {
            for arguments in [["pack", source, "-o", "new.h5"], ["split", source, "-o", "lists"]] {
                try bench.expect(
                    65, ["dataset"] + arguments, says: ["learn colors from none of its 1 photos"])
            }
        }
        #expect(!bench.files.contains { $0.hasPrefix("new.h5") || $0.hasPrefix("lists") })
    }

    @Test func photosOfOneNameAreAllPacked() throws {
        for (number, name) in ["a/1-x.png", "b/x.png", "c/x.png"].enumerated() {
            try bench.makeDirectory("photos/\(name.prefix(1))")
            try photo(number).write(to: bench.path("photos/\(name)"))
        }
        try bench.expect(0, "dataset", "pack", "photos", "-o", "pack.h5")
        let reader = try HDF5Reader(path: bench.path("pack.h5"))
        #expect(try reader.datasetNames(under: "photos") == ["1-x.png", "2-x.png", "x.png"])
        for (number, name) in ["1-x.png", "x.png", "2-x.png"].enumerated() {
            let stored = try reader.read("photos/\(name)").integers
            #expect(stored == photo(number).pixels.map(Int64.init))
        }
    }

    /// A folder, a list and a pack of the same photos are the same to measure on.
    @Test func listsAndPacksAreEvaluated() throws {
        try writePhotos(2)
        try bench.expect(0, "dataset", "pack", "photos", "-o", "pack.h5")
        _ = try bench.write(Data("photos/0.png\nphotos/1.png\n".utf8), to: "list.txt")
        let model = try bench.makeCheckpoint()
        let errors = try ["pack.h5", "list.txt"].map { data in
            let result = try bench.expect(
                0, "evaluate", model, "--data", data, "--size", "32", "--json")
            let report = try bench.json(result)
            #expect(report["images"] as? Int == 2)
            return try #require(report["delta_e2000"] as? Double)
        }
        #expect(errors[0] == errors[1] && errors[0] > 1)
    }

    @Test func packsAreTrainedOn() throws {
        try writePhotos(3)
        try bench.expect(0, "dataset", "pack", "photos", "-o", "pack.h5", "--side", "64")
        let reader = try HDF5Reader(path: bench.path("pack.h5"))
        #expect(try reader.datasetNames(under: "photos") == ["0.png", "1.png", "2.png"])
        let stored = try reader.read("photos/1.png")
        #expect(stored.shape == [64, 76, 3] && stored.storedType == .uint8)
        let expected = photo(1).scaledDown(toShortSide: 64).pixels
        #expect(stored.integers == expected.map(Int64.init))
        try bench.expect(0, "dataset", "inspect", "pack.h5")
        try train("pack.h5", "packed")
        try bench.expect(
            64, "dataset", "pack", "photos", "-o", "pack.zip", says: ["must end in .h5"])
        try bench.expect(
            64, "dataset", "split", "pack.h5", "-o", "lists", says: ["split the photos before"])
        // Any other HDF5 file is not a pack.
        try HDF5Writer(path: bench.path("other.h5")).finish()
        try bench.expect(65, "dataset", "inspect", "other.h5", says: ["is not a packed dataset"])
    }

    @Test func shardsAreTrainedOn() throws {
        try writePhotos(5)
        try bench.expect(0, "dataset", "pack", "photos", "-o", "packed", "--shards", "2")
        #expect(
            bench.files.filter { $0.hasPrefix("packed/") }.sorted() == [
                "packed/photos-00000-of-00002.h5", "packed/photos-00001-of-00002.h5",
                "packed/photos-index.h5",
            ])
        let inspected = try bench.expect(0, "dataset", "inspect", "packed").output
        #expect(inspected.hasPrefix("5 photos, median 96 × 80"))
        // A pack can be packed anew, and a shard is a pack.
        try bench.expect(0, "dataset", "pack", "packed", "-o", "again", "--shards", "2")
        let index = "photos-index.h5"
        #expect(
            try Data(contentsOf: URL(filePath: bench.path("again/\(index)")))
                == Data(contentsOf: URL(filePath: bench.path("packed/\(index)"))))
        let shard = "packed/photos-00001-of-00002.h5"
        #expect(try bench.expect(0, "dataset", "inspect", shard).output.hasPrefix("3 photos"))
        try train("packed", "sharded", "data.shuffle_shards=1")
        try bench.expect(
            64, "dataset", "split", "packed", "-o", "lists", says: ["split the photos before"])
    }

    @Test func wrongShardsAreRefused() throws {
        try writePhotos(3)
        let pack = ["dataset", "pack", "photos", "-o"]
        for (arguments, words) in [
            (["pack.h5", "--shards", "2"], "omit .h5"), (["packed"], "must end in .h5"),
            (["packed", "--shards", "0"], "--shards 0: must be from 1 to 99999"),
            (["packed", "--shards", "4"], "3 photos cannot be packed in 4 shards"),
        ] {
            let result = try bench.run(pack + arguments)
            #expect(result.code == 64 && result.messages.contains(words), "\(result.messages)")
        }
        #expect(!bench.files.contains("packed"))
        // Before all photos are read.
        try bench.makeDirectory("packed")
        _ = try bench.write(Data(), to: "packed/notes.txt")
        let taken = try bench.run(pack + ["packed", "--shards", "2"])
        #expect(taken.code == 1 && taken.messages.contains("is not empty"), "\(taken.messages)")
        #expect(!taken.messages.contains("left out"))
        try FileManager.default.removeItem(atPath: bench.path("packed"))
        #expect(try bench.run(pack + ["packed", "--shards", "2"]).code == 0)
        try FileManager.default.removeItem(atPath: bench.path("packed/photos-00000-of-00002.h5"))
        try bench.expect(
            65, "dataset", "inspect", "packed", says: ["photos-00000-of-00002.h5: is missing"])
    }

    @Test func listsOfASplitAreTrainedOn() throws {
        try writePhotos(24)
        let arguments = ["--validation", "0.25", "--test", "0.25"]
        #expect(try bench.run(["dataset", "split", "photos", "-o", "lists"] + arguments).code == 0)
        let lists = try ["train", "validation", "test"].map { name in
            try String(contentsOfFile: bench.path("lists/\(name).txt"), encoding: .utf8)
                .split(separator: "\n").map(String.init)
        }
        #expect(lists.flatMap { $0 }.count == 24 && Set(lists.flatMap { $0 }).count == 24)
        #expect(lists.allSatisfy { !$0.isEmpty })
        // Where a photo goes does not depend on the others.
        try photo(99).write(to: bench.path("photos/99.png"))
        #expect(try bench.run(["dataset", "split", "photos", "-o", "more"] + arguments).code == 0)
        let more = try String(contentsOfFile: bench.path("more/test.txt"), encoding: .utf8)
        #expect(lists[2].allSatisfy { more.contains($0) })
        try train("lists/train.txt", "listed", "data.validation=lists/validation.txt")
        try bench.expect(
            64, "dataset", "split", "photos", "-o", "lists", "--test", "1", says: ["fractions"])
    }

    private func train(_ source: String, _ run: String, _ settings: String...) throws {
        let yaml = """
            width: 0.25
            batch: 2
            steps: 2
            output: \(run)
            data: {train: \(source), crop: 32}
            """
        try Data(yaml.utf8).write(to: URL(filePath: bench.path("\(run).yaml")))
        let result = try bench.run(
            ["train", "--config", "\(run).yaml", "--set"] + settings + ["seed=1"])
        #expect(result.code == 0, "\(result.messages)")
    }

    @Test func trialsLeaveNoRun() throws {
        try writePhotos(4)
        try train("photos", "run")
        let before = bench.files
        let dry = try bench.expect(
            0, "train", "--config", "run.yaml", "--dry-run", "-o", "other", says: ["multiply-adds"])
        #expect(dry.output.contains("2 steps take about"))
        #expect(bench.files == before)
        let test = try bench.expect(
            0, "train", "--config", "run.yaml", "--lr-range-test", "-o", "range")
        #expect(test.output.contains("is a tenth of the rate with the lowest loss"))
        #expect(bench.files.subtracting(before) == ["range", "range/lr-range.html"])
        try bench.expect(
            64, "train", "--config", "run.yaml", "--dry-run", "--resume", says: ["exclude"])
    }

    @Test func searchKeepsTheBetterHalf() throws {
        try writePhotos(6)
        try train("photos", "base")
        let result = try bench.run([
            "search", "--config", "base.yaml", "-o", "search", "--steps", "4", "--rounds", "2",
            "--size", "32", "--json", "--candidate", "architecture=pico-unet",
            "--candidate", "architecture=mobile-unet", "width=0.25",
            "--candidate", "architecture=mobile-unet", "width=0.5",
        ])
        #expect(result.code == 0, "\(result.messages)")
        let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        let report = try #require(object as? [String: Any])
        #expect(report["rungs"] as? [Int] == [2, 4])
        let rows = try #require(report["candidates"] as? [[String: Any]])
        #expect(rows.map { $0["steps"] as? Int } == [4, 4, 2])
        #expect(rows.map { $0["is_finalist"] as? Bool } == [true, true, false])
        let page = try String(contentsOfFile: bench.path("search/report.html"), encoding: .utf8)
        #expect(page.contains("pico-unet") && page.contains("<svg"))
        try bench.expect(
            64, "search", "--config", "base.yaml", "-o", "s", "--candidate", "width=1",
            says: ["two candidates"])
    }
}
