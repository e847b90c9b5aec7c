import Glibc
import RetintFiles
import RetintImages
import RetintLocks

/// Photos in the shards of a folder. They are read at the offsets in the index, without libhdf5.
final class PackShards: PackedPhotos {
    /// The number of shards that stay open; a process may not open all shards of a large set.
    static let openLimit = 64

    private let folder: String
    private let index: ShardIndex
    let signature: String
    /// The open shards, the most recently used last.
    private let open = Mutex<[(shard: Int, file: RegularFile)]>([])

    var names: [String] { index.names }

    /// Reads the index, and compares each shard with it: missing and wrong ones are found before
    /// anything else is done.
    init(_ folder: String) throws {
        self.folder = folder
        let path = "\(folder)/\(ShardIndex.fileName)"
        guard try FileKind(at: path) != .nothing else {
            throw PhotoError(
                .notAPack,
                file: folder,
                "has no \(ShardIndex.fileName), which lists the photos of its shards; "
                    + "copy it from where they were packed, or pack the photos again")
        }
        index = try ShardIndex(contentsOf: path)
        signature = index.signature
        for shard in index.shards.indices { _ = try openFile(shard) }
    }

    /// Whether a folder has an index of shards, or only shards.
    static func isHeld(in folder: String) -> Bool {
        if access("\(folder)/\(ShardIndex.fileName)", F_OK) == 0 { return true }
        return entries(of: folder.filePath.appending("."))?.contains(where: ShardIndex.isShard)
            ?? false
    }

    func shard(of name: String) -> Int? { index.place(of: name)?.shard }

    func image(_ name: String) throws(ImageError) -> Image {
        let title = "\(folder)/\(name)"
        guard let place = index.place(of: name) else {
            throw ImageError.damaged(title, "is not in the index")
        }
        let extent = place.extent
        try ImageLimits.default.check(width: extent.width, height: extent.height, file: title)
        do {
            let pixels = try file(place.shard).bytes(at: extent.offset, count: extent.byteCount)
            guard pixels.count == extent.byteCount else {
                throw ImageError.damaged(title, "is beyond the end of its shard")
            }
            return Image(width: extent.width, height: extent.height, pixels: pixels)
        } catch let error as ImageError {
            throw error
        } catch {
            throw ImageError.damaged(title, "cannot be read: \(error)")
        }
    }

    func readAhead(_ names: [String]) {
        let places = names.compactMap(index.place).sorted {
            ($0.shard, $0.extent.offset) < ($1.shard, $1.extent.offset)
        }
        for place in places {
            (try? file(place.shard))?
                .readAhead(at: place.extent.offset, count: place.extent.byteCount)
        }
    }
}

// MARK: Files

extension PackShards {
    private func file(_ shard: Int) throws -> RegularFile {
        let known = open.withLock { open -> RegularFile? in
            guard let position = open.lastIndex(where: { $0.shard == shard }) else { return nil }
            open.append(open.remove(at: position))
            return open.last?.file
        }
        if let known { return known }
        let file = try openFile(shard)
        open.withLock { open in
            open.append((shard, file))
            // Threads that still read a closed one keep it until they are done.
            if open.count > Self.openLimit { open.removeFirst() }
        }
        return file
    }

    /// Opens a shard.
    ///
    /// - Throws: ``PhotoError`` if it is missing or differs from the index.
    private func openFile(_ shard: Int) throws -> RegularFile {
        let count = index.shards.count
        let path = "\(folder)/\(ShardIndex.name(ofShard: shard, of: count))"
        func error(_ problem: String) -> PhotoError {
            PhotoError(
                .shard,
                file: path,
                "\(problem); copy it from where the \(count) shards were packed, or pack "
                    + "the photos again")
        }
        guard try FileKind(at: path) != .nothing else { throw error("is missing") }
        let file = try RegularFile(path)
        let (found, wanted) = (try FileSignature(of: file), index.shards[shard])
        guard found != wanted else { return file }
        if let other = index.shards.firstIndex(of: found) {
            throw error("has the contents of \(ShardIndex.name(ofShard: other, of: count))")
        }
        guard found.byteCount == wanted.byteCount else {
            throw error(
                "has \(found.byteCount) bytes, but \(ShardIndex.fileName) lists "
                    + "\(wanted.byteCount)")
        }
        throw error("has other photos than the shard that \(ShardIndex.fileName) lists")
    }
}
