/// A request about an open HDF5 file. Objects are named by the components of their paths.
enum HDF5Request: Codable {
    /// The first request: opens the file.
    ///
    /// - Parameters:
    ///   - path: the path in errors.
    ///   - opened: the path under which libhdf5 opens the file.
    case open(path: String, opened: String, limits: TensorFileLimits)
    /// The datasets below a group without their elements, in ``HDF5Answer/datasets``.
    case datasets(group: [String])
    /// A dataset without its elements, the only one in ``HDF5Answer/datasets``.
    case dataset([String])
    /// The elements of a dataset that is not chunked, in ``HDF5Answer/bytes``.
    case elements([String])
    /// A stored chunk, in ``HDF5Answer/bytes``.
    ///
    /// - Parameters:
    ///   - origin: the position of its first element in the tensor.
    ///   - byteCount: the size of the decompressed chunk.
    case chunk([String], origin: [Int], byteCount: Int)
    /// The attributes of a group or dataset, in ``HDF5Answer/attributes``.
    case attributes([String])
    /// Whether there is a group or dataset, in ``HDF5Answer/isThere``.
    case contains([String])
    /// Whether the root group has an attribute, in ``HDF5Answer/isThere``.
    case containsAttribute(String)

    /// Whether the answer is in ``HDF5Answer/datasets``.
    var isForDatasets: Bool {
        switch self {
        case .datasets, .dataset: true
        default: false
        }
    }
}

/// The result of a request; parts that were not requested are empty.
struct HDF5Answer: Codable {
    /// Passed between two processes as a ``DatasetTable``.
    var datasets: [HDF5DatasetEntry] = []
    var attributes: [String: HDF5Attribute] = [:]
    var isThere = false
    /// A bit for each filter that was skipped for a chunk.
    var skippedFilters: UInt32 = 0
    /// Elements or a chunk, which are not encoded.
    var bytes: [UInt8] = []

    private enum CodingKeys: CodingKey {
        case attributes, isThere, skippedFilters
    }
}

/// A dataset of a file.
struct HDF5DatasetEntry {
    /// The components of its path.
    let names: [String]
    /// Nil if it is of an unsupported kind.
    let description: HDF5DatasetDescription?
    /// Why it is not read.
    let error: TensorFileError?
}

/// A dataset as its file declares it, not yet checked against anything.
struct HDF5DatasetDescription {
    /// How the elements are stored in the file.
    enum Layout {
        /// In the dataset's header.
        case compact
        /// Contiguous, from an offset on.
        case contiguous(offset: UInt64)
        /// In chunks of this shape.
        case chunked(extents: [UInt64], HDF5Filters)
    }

    let extents: [UInt64]
    let type: HDF5ElementType
    /// The bytes that the elements take in the file.
    let storedBytes: UInt64
    let layout: Layout
}

/// Answers requests about one file.
protocol HDF5Source: Sendable {
    func answer(_ request: HDF5Request) throws(TensorFileError) -> HDF5Answer
}

/// Asks libhdf5 in this process.
struct LocalHDF5Source: HDF5Source {
    private let service = HDF5Service()

    func answer(_ request: HDF5Request) throws(TensorFileError) -> HDF5Answer {
        try service.answer(request)
    }
}
