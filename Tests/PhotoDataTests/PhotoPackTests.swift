import Foundation
import RetintFiles
import RetintImages
import RetintTensorFiles
import RetintTestSupport
import Testing

@testable import RetintPhotoData

@Suite struct PhotoPackTests {
    private let scratch: TemporaryFolder
    private var folder: String { scratch.path("pack") }

    init() throws { scratch = try TemporaryFolder() }

    private func photo(_ number: Int) -> Image {
        let pixels = (0..<3 * 34 * 32).map { UInt8(($0 &* 31 &+ number &* 97) % 251) }
        return Image(width: 34, height: 32, pixels: pixels)
    }

    private func photos(_ count: Int, from first: Int = 0) throws -> [PhotoReference] {
        try (first..<first + count).map { number in
            try photo(number).write(to: scratch.path("\(number).png"))
            return .file(scratch.path("\(number).png"))
        }
    }

    private func pack(_ count: Int, shards: Int, from first: Int = 0, to name: String = "pack")
        throws
    {
        try PhotoPack.write(
            photos(count, from: first), toShards: shards, in: scratch.path(name), shortSide: 64)
    }

    private func shard(_ number: Int, of count: Int, in name: String = "pack") -> String {
        scratch.path("\(name)/\(ShardIndex.name(ofShard: number, of: count))")
    }

    @Test(arguments: [(7, 3), (5, 5), (10, 4), (3, 1)])
    func shardsHoldEachPhotoOnce(count: Int, shards: Int) throws {
        try pack(count, shards: shards)
        let pack = try PhotoPack(contentsOf: folder)
        #expect(pack.names == (0..<count).map { "\($0).png" }.sorted())
        for number in 0..<count { #expect(try pack.image("\(number).png") == photo(number)) }
        let parts = try (0..<shards).map { try PhotoPack(contentsOf: shard($0, of: shards)) }
        #expect(parts.flatMap(\.names).sorted() == pack.names)
        for (number, part) in parts.enumerated() {
            #expect((count / shards...count / shards + 1).contains(part.names.count))
            #expect(part.names.allSatisfy { pack.shard(of: $0) == number })
            for name in part.names { #expect(try part.image(name) == pack.image(name)) }
        }
        #expect(
            try PhotoReference.list(folder).map(\.description)
                == pack.names.map { "\(folder)/\($0)" })
    }

    /// A folder of neighbors that are alike must not become a shard.
    @Test func neighborsAreDealtOut() throws {
        try pack(60, shards: 2)
        let first = try PhotoPack(contentsOf: shard(0, of: 2)).names.map { $0.dropLast(4) }
        let low = first.filter { (Int($0) ?? 0) < 30 }.count
        #expect((8...22).contains(low) && first.count == 30)
    }

    @Test func equalPhotosGiveEqualBytes() throws {
        try pack(7, shards: 3)
        try pack(7, shards: 3, to: "again")
        let (first, second) = (
            try contents(ofFolder: folder), try contents(ofFolder: scratch.path("again"))
        )
        #expect(first == second && first.count == 4)
        #expect(
            try PhotoPack(contentsOf: folder).signature
                == PhotoPack(contentsOf: scratch.path("again")).signature)
    }

    @Test func fewShardsAreOpenAtOnce() throws {
        let count = PackShards.openLimit + 5
        try pack(count, shards: count)
        let shards = try PackShards(folder)
        #expect(openShards == 0)
        shards.readAhead(shards.names)
        for name in shards.names + shards.names.reversed() {
            #expect(try shards.image(name) == photo(Int(name.dropLast(4)) ?? 0))
            #expect(openShards <= PackShards.openLimit)
        }
        #expect(openShards == PackShards.openLimit)
        withExtendedLifetime(shards) {}
    }

    /// The files of the folder that this process has open.
    private var openShards: Int {
        let links = "/proc/self/fd"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: links)) ?? []
        return numbers.count { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "\(links)/\(number)")
            return target?.hasPrefix(folder + "/") ?? false
        }
    }

    // MARK: Wrong shards

    private func expectRefused(_ kind: PhotoError.Kind, _ words: String...) {
        let error = #expect(throws: PhotoError.self) { try PhotoReference.list(folder) }
        #expect(error?.kind == kind)
        for word in words {
            #expect(error?.description.contains(word) == true, "\(String(describing: error))")
        }
    }

    @Test func missingShardsAreNamed() throws {
        try pack(7, shards: 3)
        try FileManager.default.removeItem(atPath: shard(1, of: 3))
        expectRefused(.shard, "photos-00001-of-00003.h5: is missing")
    }

    @Test func swappedAndDoubledShardsAreNamed() throws {
        try pack(9, shards: 3)
        let files = FileManager.default
        try files.moveItem(atPath: shard(0, of: 3), toPath: scratch.path("first"))
        try files.copyItem(atPath: shard(1, of: 3), toPath: shard(0, of: 3))
        expectRefused(
            .shard, "photos-00000-of-00003.h5: has the contents of photos-00001-of-00003.h5")
        try files.removeItem(atPath: shard(1, of: 3))
        try files.moveItem(atPath: scratch.path("first"), toPath: shard(1, of: 3))
        expectRefused(.shard, "photos-00000-of-00003.h5: has the contents of")
    }

    @Test func shardsOfAnotherSetAreNamed() throws {
        try pack(9, shards: 3)
        try pack(9, shards: 3, from: 20, to: "other")
        let files = FileManager.default
        try files.removeItem(atPath: shard(2, of: 3))
        try files.copyItem(atPath: shard(2, of: 3, in: "other"), toPath: shard(2, of: 3))
        expectRefused(.shard, "photos-00002-of-00003.h5: ", "photos-index.h5")
    }

    @Test func shardsThatBreakOffAreNamed() throws {
        try pack(9, shards: 3)
        let bytes = try Data(contentsOf: URL(filePath: shard(2, of: 3)))
        try bytes.dropLast(1).write(to: URL(filePath: shard(2, of: 3)))
        expectRefused(.shard, "photos-00002-of-00003.h5: has \(bytes.count - 1) bytes")
        // Of the same size, but with another end.
        try (bytes.dropLast(1) + [bytes[bytes.count - 1] ^ 1])
            .write(to: URL(filePath: shard(2, of: 3)))
        expectRefused(.shard, "photos-00002-of-00003.h5: has other photos than the shard")
    }

    @Test func shardsThatChangeLaterAreBadPhotos() throws {
        try pack(3, shards: 3)
        let pack = try PhotoPack(contentsOf: folder)
        try FileManager.default.removeItem(atPath: shard(0, of: 3))
        let lost = try #require(pack.names.first { pack.shard(of: $0) == 0 })
        let error = #expect(throws: ImageError.self) { try pack.image(lost) }
        #expect(error?.description.contains("photos-00000-of-00003.h5: is missing") == true)
        pack.readAhead(pack.names)
        for name in pack.names where name != lost { _ = try pack.image(name) }
        #expect(throws: ImageError.self) { try pack.image("nothing") }
    }

    @Test func foldersWithoutAnIndexAreNoShards() throws {
        try pack(7, shards: 3)
        try FileManager.default.removeItem(atPath: "\(folder)/photos-index.h5")
        expectRefused(.notAPack, "has no photos-index.h5")
        try FileManager.default.copyItem(
            atPath: shard(1, of: 3), toPath: "\(folder)/photos-index.h5")
        expectRefused(.notAPack, "photos-index.h5: is not an index")
    }

    /// An index that was made to harm.
    @Test(arguments: [
        (0, -1, 32, 34), (3, 0, 32, 34), (-1, 0, 32, 34), (0, 0, 0, 34), (0, 0, -32, -34),
        (0, 0, 1 << 40, 1 << 40), (0, 0, 20_000, 20_000), (0, .max, 32, 34), (0, 1 << 40, 32, 34),
    ])
    func placesOutsideAreRefused(shard: Int, offset: Int, height: Int, width: Int) throws {
        try pack(7, shards: 3)
        let path = "\(folder)/\(ShardIndex.fileName)"
        let index = try ShardIndex(contentsOf: path)
        var photos = Array(zip(index.names, index.places))
        photos[2].1 = .init(
            shard: shard, extent: .init(offset: offset, height: height, width: width))
        try ShardIndex(index.shards, photos).write(to: path)
        expectRefused(.notAPack, "photos-index.h5: lists 2.png in a missing shard")
    }

    @Test(arguments: [(1, "sizes"), (2, "places")])
    func numbersThatAreNoIntegersAreRefused(rank: Int, words: String) throws {
        try pack(7, shards: 3)
        let path = "\(folder)/\(ShardIndex.fileName)"
        let reader = try HDF5Reader(path: path)
        let attributes = try reader.attributes()
        let tensors = try reader.tensorNames().map { name in
            let isNumbers = try reader.storedType(of: name) == .int64
            return (name, try reader.read(name), isNumbers)
        }
        let writer = try HDF5Writer(path: path)
        for (name, value) in attributes { try writer.setAttribute(name, to: value) }
        for (name, tensor, isNumbers) in tensors {
            let integers = tensor.integers?.map(Float.init)
            let isChanged = tensor.shape.rank == rank && isNumbers
            try writer.write(
                isChanged ? StoredTensor(shape: tensor.shape, floats: integers ?? []) : tensor,
                to: name)
        }
        try writer.finish()
        expectRefused(.notAPack, "lists \(words) that are not integers")
    }

    @Test func indexesOfAPhotoTwiceOrOfNoShardsAreRefused() throws {
        try pack(7, shards: 3)
        let path = "\(folder)/\(ShardIndex.fileName)"
        let index = try ShardIndex(contentsOf: path)
        let photos = Array(zip(index.names, index.places))
        try ShardIndex(index.shards, photos + [photos[1]]).write(to: path)
        expectRefused(.notAPack, "twice")
        try ShardIndex([], photos).write(to: path)
        expectRefused(.notAPack, "impossible shards")
    }

    /// Other characters that Unicode calls line breaks are part of names; a byte order mark and
    /// spaces around a line are not.
    @Test func listsHaveAPathPerLine() throws {
        let list = scratch.path("list.txt")
        let text = "\u{feff}a\u{2028}b.jpg\r\n# photos\r\n  c\u{85}.jpg  \n   \n/d\re.jpg"
        try AtomicFile.write(Array(text.utf8), to: list)
        let paths = try PhotoReference.list(list).map { "\($0)" }
        #expect(
            paths == [
                scratch.path("a\u{2028}b.jpg"), scratch.path("c\u{85}.jpg"), "/d\re.jpg",
            ])
    }

    @Test func impossibleNumbersOfShardsAreRefused() throws {
        for shards in [0, -1, 4, 100_000] {
            let error = #expect(throws: PhotoError.self) { try pack(3, shards: shards) }
            #expect(error?.description.contains("from 1 to 3") == true)
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test func onlyShardsAreReplaced() throws {
        try pack(7, shards: 3)
        try pack(7, shards: 2)
        #expect(try contents(ofFolder: folder).count == 3)
        try Data().write(to: URL(filePath: "\(folder)/notes.txt"))
        let error = #expect(throws: FileError.self) { try pack(7, shards: 3) }
        #expect(error?.description.contains("notes.txt") == true)
        #expect(try PhotoPack(contentsOf: folder).names.count == 7)
    }

    /// A photo that cannot be read leaves the old shards as they were.
    @Test func failuresLeaveWhatWasThere() throws {
        try pack(3, shards: 2)
        let before = try contents(ofFolder: folder)
        #expect(throws: ImageError.self) {
            try PhotoPack.write(
                photos(3) + [.file(scratch.path("none.png"))], toShards: 2, in: folder,
                shortSide: 64)
        }
        #expect(try contents(ofFolder: folder) == before)
        #expect(try scratch.names().allSatisfy { !$0.hasPrefix(".") })
    }
}
