/// How much of a file from outside is taken before it is refused.
public struct TensorFileLimits: Hashable, Sendable {
    /// The bytes of all tensors read together, as they are stored uncompressed.
    public var totalBytes: Int
    /// The tensors of a file, groups of HDF5 included.
    public var objects: Int
    /// How deep groups of HDF5 may stand in each other.
    public var depth: Int
    /// The dimensions of a tensor.
    public var rank: Int
    /// The bytes of one chunk of a chunked HDF5 dataset, uncompressed.
    public var chunkBytes: Int
    /// The chunks of one HDF5 dataset; libhdf5 takes time by the square of their number.
    public var chunks: Int
    /// The bytes of one HDF5 attribute.
    public var attributeBytes: Int

    /// 4 GiB of tensors in up to 100,000 objects.
    public static let `default` = TensorFileLimits()

    public init(
        totalBytes: Int = 4 << 30, objects: Int = 100_000, depth: Int = 32, rank: Int = 8,
        chunkBytes: Int = 256 << 20, chunks: Int = 16384, attributeBytes: Int = 16 << 20
    ) {
        self.totalBytes = totalBytes
        self.objects = objects
        self.depth = depth
        self.rank = rank
        self.chunkBytes = chunkBytes
        self.chunks = chunks
        self.attributeBytes = attributeBytes
    }
}
