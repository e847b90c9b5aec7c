import RetintFiles
import RetintTensorFiles

/// The file that lists the photos of all shards, so that the shards need not be searched.
struct ShardIndex {
    /// Its name in the folder of the shards.
    static let fileName = "photos-index.h5"
    private static let marker = "retint_photo_shards"
    private static let version = 1
    static let largestCount = 99_999

    /// A photo's shard, and its location there.
    struct Place: Hashable, Sendable {
        let shard: Int
        let extent: PhotoExtent
    }

    /// The shards, in order.
    let shards: [FileSignature]
    /// The names of all photos, sorted.
    let names: [String]
    /// The location of each photo.
    let places: [Place]

    /// The name of a shard's file: `photos-00003-of-00008.h5`.
    static func name(ofShard shard: Int, of count: Int) -> String {
        func digits(_ number: Int) -> String {
            String(repeating: "0", count: 5 - min(String(number).count, 5)) + String(number)
        }
        return "photos-\(digits(shard))-of-\(digits(count)).h5"
    }

    /// Whether a file's name is a valid name of a shard.
    static func isShard(_ name: String) -> Bool {
        name.wholeMatch(of: /photos-[0-9]{5}-of-[0-9]{5}\.h5/) != nil
    }

    /// Sorts the photos.
    init(_ shards: [FileSignature], _ photos: [(name: String, place: Place)]) {
        let sorted = photos.sorted { $0.name < $1.name }
        (self.shards, names, places) = (shards, sorted.map(\.name), sorted.map(\.place))
    }

    /// Differs between sets of different photos.
    var signature: String {
        var hash = ContentHash()
        hash.update(Array(shards.map { "\($0)\n" }.joined().utf8))
        hash.update(Array(names.joined(separator: "\0").utf8))
        hash.update(places.flatMap(\.numbers))
        return hash.digest.hexadecimal
    }
}

// MARK: Reading and writing

extension ShardIndex {
    private static let dataset = (
        bytes: "shards/bytes", digests: "shards/digests", names: "photos/names",
        places: "photos/places"
    )
    private static let digestBytes = 32

    func write(to path: some PathConvertible) throws {
        let writer = try HDF5Writer(path: path)
        try writer.setAttribute(Self.marker, to: .integer(Self.version))
        try writer.write(
            StoredTensor(shape: [shards.count], integers: shards.map { Int64($0.byteCount) }),
            to: Self.dataset.bytes)
        try writer.write(
            StoredTensor(
                shape: [shards.count, Self.digestBytes], bytes: shards.flatMap(\.digest)),
            to: Self.dataset.digests)
        // A name may contain anything but a zero byte.
        let text = Array(names.joined(separator: "\0").utf8)
        try writer.write(StoredTensor(shape: [text.count], bytes: text), to: Self.dataset.names)
        try writer.write(
            StoredTensor(
                shape: [places.count, Place.numberCount], integers: places.flatMap(\.numbers)),
            to: Self.dataset.places)
        try writer.finish()
    }

    /// Reads and checks an index.
    ///
    /// - Throws: `TensorFileError` if it cannot be read, ``PhotoError`` if it is not an index or
    ///   makes no sense.
    init(contentsOf path: String) throws {
        func nonsense(_ problem: String) -> PhotoError {
            PhotoError(
                .notAPack,
                file: path, "\(problem); pack the photos again with `retint dataset pack --shards`")
        }
        let reader = try HDF5Reader(path: path)
        guard try reader.attributes()[Self.marker]?.integer == Self.version else {
            throw nonsense("is not an index of shards that this version of retint reads")
        }
        guard let sizes = try reader.read(Self.dataset.bytes).integers else {
            throw nonsense("lists sizes that are not integers")
        }
        guard (1...Self.largestCount).contains(sizes.count), sizes.allSatisfy({ $0 > 0 }) else {
            throw nonsense("lists impossible shards")
        }
        let digests = try reader.readBytes(
            Self.dataset.digests, expecting: [sizes.count, Self.digestBytes])
        shards = sizes.enumerated().map { index, size in
            let start = index * Self.digestBytes
            return FileSignature(
                byteCount: Int(size), digest: Array(digests[start..<start + Self.digestBytes]))
        }
        names = try reader.readBytes(Self.dataset.names)
            .split(separator: 0, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let table = try reader.read(
            Self.dataset.places, expecting: [names.count, Place.numberCount])
        guard let numbers = table.integers else {
            throw nonsense("lists places that are not integers")
        }
        places = stride(from: 0, to: numbers.count, by: Place.numberCount).map {
            Place(numbers[$0..<$0 + Place.numberCount])
        }
        guard zip(names, names.dropFirst()).allSatisfy(<) else {
            throw nonsense("lists photos that are not sorted, or are listed twice")
        }
        let shards = shards
        guard
            let wrong = places.firstIndex(where: { place in
                !shards.indices.contains(place.shard)
                    || !place.extent.isIn(shards[place.shard].byteCount)
            })
        else { return }
        throw nonsense("lists \(names[wrong]) in a missing shard, or beyond the end of a shard")
    }

    /// The location of a photo; nil if there is no photo of that name.
    func place(of name: String) -> Place? {
        var range = names.startIndex..<names.endIndex
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            if names[middle] == name { return places[middle] }
            range =
                names[middle] < name
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}

extension ShardIndex.Place {
    fileprivate static let numberCount = 4

    fileprivate var numbers: [Int64] {
        [shard, extent.offset, extent.height, extent.width].map(Int64.init)
    }

    fileprivate init(_ numbers: ArraySlice<Int64>) {
        let numbers = numbers.map { Int($0) }
        shard = numbers[0]
        extent = PhotoExtent(offset: numbers[1], height: numbers[2], width: numbers[3])
    }
}
