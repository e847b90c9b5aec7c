public import RetintFiles

/// Why photos are refused.
public typealias PhotoError = Refusal<PhotoProblem>

/// What is refused of photos.
public enum PhotoProblem: RefusalKind {
    /// The file is not a packed dataset.
    case notAPack
    /// A shard of a packed dataset is missing, or is not the one that belongs there.
    case shard
    /// The photos are in a pack where separate files are needed.
    case packed
    /// There are no photos.
    case none
    /// Two photos would be written to one file, or one would be overwritten.
    case output
    /// A mask is missing, has another size than its photo, or lacks an instance.
    case mask
    /// Four corners do not form a convex quadrilateral, clockwise from the upper left.
    case corners
    /// A quadrilateral reaches beyond its photo.
    case outside
    /// A table of boxes around skin is damaged, or has none for the photos.
    case boxes
    /// A photo's path cannot stand in a list of paths.
    case name

    /// The caller chose what is packed, the output and the corners.
    public var fault: Fault {
        switch self {
        case .packed, .output, .corners: .usage
        case .notAPack, .shard, .none, .mask, .outside, .boxes, .name: .input
        }
    }
}
