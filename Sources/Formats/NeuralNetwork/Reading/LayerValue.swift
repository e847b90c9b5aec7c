import RetintMLPackage

/// A value of the program that is being built.
struct Blob {
    let name: String
    let shape: [Int]
}

/// A value between layers.
///
/// Layers of the first versions know the axes [sequence, batch, channels, height, width], the
/// operations of a program [batch, channels, height, width]. A value has either form, or both: its
/// own axes, and as images, with all axes before the channels joined in one.
final class LayerValue {
    /// The extents of its own axes.
    let shape: [Int]
    /// The elements, if they are known.
    let constant: MILValue?
    var exact: Blob?
    var images: Blob?

    init(_ blob: Blob, constant: MILValue? = nil) {
        (shape, self.constant) = (blob.shape, constant)
        exact = blob
        if shape.count == 4 { images = blob }
    }

    /// Images, whose first axis is that of all but the last three extents of `shape`.
    init(images: Blob, _ shape: [Int], constant: MILValue? = nil) {
        (self.shape, self.constant) = (shape, constant)
        self.images = images
        if shape.count == 4 { exact = images }
    }

    /// The axes before channels, height and width.
    var leading: [Int] { Array(shape.dropLast(3)) }
}

extension [Int] {
    /// The product; nil if it is too large for any tensor.
    var product: Int? { MILTensorType(.float32, self).elementCount }
}
