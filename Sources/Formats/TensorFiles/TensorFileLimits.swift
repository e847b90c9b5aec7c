/// Limits on files from untrusted sources.
public struct TensorFileLimits: Hashable, Sendable, Codable {
    /// The memory that the tensors of one load take, in bytes: 4 for a float, 8 for an integer or
    /// a double, and at least what is read. A file of less than a sixteenth may only take 16 times
    /// its size, or 256 MiB.
    public var totalBytes: Int
    /// The number of tensors in a file, HDF5 groups included.
    public var objects: Int
    /// The nesting depth of HDF5 groups.
    public var depth: Int
    /// The number of dimensions of a tensor.
    public var rank: Int
    /// The size of a chunk of an HDF5 dataset in bytes, uncompressed.
    public var chunkBytes: Int
    /// The number of chunks of an HDF5 dataset; the time of libhdf5 is quadratic in it.
    public var chunks: Int
    /// The size of an HDF5 attribute in bytes.
    public var attributeBytes: Int

    /// 4 GiB of tensors in up to 100,000 objects.
    public static let `default` = TensorFileLimits()

    /// 4 GiB of tensors, 100,000 objects, 32 levels of groups, 8 dimensions, chunks of 256 MiB,
    /// 16,384 chunks per dataset and 16 MiB per attribute by default.
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
