public import RetintFiles
import RetintTensors

extension PhotoPack {
    /// The largest number of shards.
    public static let maximumShards = ShardIndex.largestCount

    /// Writes photos into a pack, sorted by name. The file appears once it is complete; until then,
    /// it is in memory.
    ///
    /// A photo is named after its file. If several files have the same name, all but the first
    /// get a number in front: `1-photo.png`.
    ///
    /// - Parameter shortSide: larger photos are scaled down to this short side, in pixels.
    /// - Throws: `ImageError` if a photo cannot be read, `TensorFileError` if the pack cannot be
    ///   written.
    public static func write(
        _ photos: [PhotoReference], to path: some PathConvertible, shortSide: Int
    ) throws {
        let sorted = named(photos).sorted { $0.name < $1.name }
        try PackFile.write(sorted, to: path, shortSide: shortSide)
    }

    /// Writes photos into a folder of shards, `photos-00000-of-00008.h5` and so on, with an index,
    /// `photos-index.h5`. The folder appears, or replaces one of shards, once it is complete. One
    /// shard at a time is in memory.
    ///
    /// Photos are distributed in a random order that follows from their names, so that neighbors in
    /// a folder, which are often similar, end up in different shards. Shard sizes differ by at most
    /// one photo. Each shard can be read as a pack by itself.
    ///
    /// - Parameters:
    ///   - shards: the number of shards, at most that of the photos, and ``maximumShards``.
    ///   - shortSide: larger photos are scaled down to this short side, in pixels.
    /// - Throws: as ``write(_:to:shortSide:)``; ``PhotoError`` for a wrong number of shards;
    ///   `FileError` if the folder cannot be written, or contains anything else.
    public static func write(
        _ photos: [PhotoReference], toShards shards: Int, in folder: some PathConvertible,
        shortSide: Int
    ) throws {
        guard (1...min(maximumShards, max(photos.count, 1))).contains(shards) else {
            throw PhotoError(
                .output,
                "\(folder.filePath): \(photos.count) photos cannot be packed in \(shards) shards; "
                    + "choose a number from 1 to \(min(maximumShards, photos.count))")
        }
        let dealt = named(photos).map { photo in
            var random = RandomStream(seed: 0, name: photo.name)
            return (key: random.next(), photo: photo)
        }.sorted { ($0.key, $0.photo.name) < ($1.key, $1.photo.name) }.map(\.photo)
        try AtomicFile.replace(folder, content: content) { temporary in
            try createFolder(temporary)
            try write(dealt, toShards: shards, in: temporary, shortSide)
        }
    }

    private static func write(
        _ photos: [PackFile.NamedPhoto], toShards shards: Int, in folder: String, _ shortSide: Int
    ) throws {
        var signatures: [FileSignature] = []
        var places: [(String, ShardIndex.Place)] = []
        for shard in 0..<shards {
            let path = "\(folder)/\(ShardIndex.name(ofShard: shard, of: shards))"
            let own = photos.count * shard / shards..<photos.count * (shard + 1) / shards
            try PackFile.write(
                photos[own], to: path, shortSide: shortSide, shard: (shard, shards))
            signatures.append(try FileSignature(of: RegularFile(path)))
            places += try PackFile(path).extents.map { ($0, .init(shard: shard, extent: $1)) }
        }
        try ShardIndex(signatures, places).write(to: "\(folder)/\(ShardIndex.fileName)")
    }

    /// Refuses a folder that ``write(_:toShards:in:shortSide:)`` would not replace.
    public static func checkReplaceable(_ folder: some PathConvertible) throws(FileError) {
        try AtomicFile.checkReplaceable(folder, content)
    }

    /// The only contents of a folder that may be replaced.
    private static let content = FolderContent(marker: ShardIndex.fileName) {
        $0 == ShardIndex.fileName || ShardIndex.isShard($0)
    }

    /// Photos with unique names.
    private static func named(_ photos: [PhotoReference]) -> [PackFile.NamedPhoto] {
        Array(zip(uniqueNames(photos.map { "\($0)" }), photos))
    }

    /// The last component of each path, with a number in front if it is already used.
    static func uniqueNames(_ paths: [String]) -> [String] {
        var used: Set<String> = []
        return paths.map { path in
            let name = path.pathParts.last { !$0.isEmpty } ?? "photo"
            var unique = name
            var number = 1
            while !used.insert(unique).inserted {
                unique = "\(number)-\(name)"
                number += 1
            }
            return unique
        }
    }
}
