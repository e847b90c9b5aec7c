/// Why photos are refused.
public struct PhotoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, for programs that handle some kinds.
    public enum Kind: Hashable, Sendable {
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
    }

    /// The kind of failure.
    public let kind: Kind
    /// The file, the rule and what to do.
    public let description: String

    package init(_ kind: Kind, _ description: String) {
        (self.kind, self.description) = (kind, description)
    }
}
