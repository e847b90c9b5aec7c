import Foundation

/// Work on a list of items, each of which belongs to one rank: item i to rank i mod N.
extension Communicator {
    /// The indices of the items that this rank works on.
    public func ownIndices(of count: Int) -> [Int] {
        Array(stride(from: rank, to: count, by: size))
    }

    /// The results of all items, in the order of the items, for all ranks.
    ///
    /// - Parameters:
    ///   - own: one result for each of ``ownIndices(of:)``; numbers keep their bits.
    ///   - count: the number of items.
    public func gather<Value: Codable & SendableMetatype>(
        _ own: [Value], of count: Int
    ) throws -> [Value] {
        let values: [[Value]] = try gather(Self.bytes(own)).map { try Self.values($0) }
        return try (0..<count).map { index in
            let (rank, place) = (index % size, index / size)
            guard place < values[rank].count else {
                throw RankError(
                    "rank \(rank): has sent \(values[rank].count) results of \(count) items; run "
                        + "all ranks with the same inputs")
            }
            return values[rank][place]
        }
    }

    /// One value of each rank, for all ranks.
    public func gather<Value: Codable & SendableMetatype>(_ value: Value) throws -> [Value] {
        try gather([value], of: size)
    }

    /// Rank 0's value, for all ranks.
    ///
    /// - Parameter value: needed only on rank 0.
    package func broadcast<Value: Codable & SendableMetatype>(_ value: Value?) throws -> Value {
        let own = rank == 0 ? value.map { [$0] } ?? [] : []
        let first: [Value] = try Self.values(gather(Self.bytes(own))[0])
        guard let value = first.first else {
            throw RankError("rank 0 has sent nothing; run the same version of retint on all ranks")
        }
        return value
    }

    // JSON, not property lists: those take -0.0 and 0.0 for one number.

    private static func bytes(_ values: [some Encodable]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try Array(encoder.encode(values))
    }

    private static func values<Value: Decodable & SendableMetatype>(
        _ bytes: [UInt8]
    ) throws -> [Value] {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try decoder.decode([Value].self, from: Data(bytes))
    }
}
