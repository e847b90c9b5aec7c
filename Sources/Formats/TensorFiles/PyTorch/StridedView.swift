import RetintFiles
import RetintTensors

/// The elements of a tensor in its storage: element `[i, j]` is at `offset + i s + j t` for the
/// strides `[s, t]`, counted in elements. Strides may be 0 and views may overlap.
struct StridedView {
    let shape: Shape
    let strides: [Int]
    let offset: Int
    let elementBytes: Int

    /// The size of the elements; nil if it does not fit an `Int`.
    var byteCount: Int? {
        let (bytes, overflow) = shape.count.multipliedReportingOverflow(by: elementBytes)
        return overflow ? nil : bytes
    }

    /// The end of the last element in the storage in bytes; nil if it does not fit an `Int`.
    var end: Int? {
        guard byteCount != nil else { return nil }
        var last = offset
        for (extent, stride) in zip(shape.dimensions, strides) where shape.count > 0 {
            let (span, tooFar) = (extent - 1).multipliedReportingOverflow(by: stride)
            let (sum, overflow) = last.addingReportingOverflow(span)
            guard !tooFar, !overflow else { return nil }
            last = sum
        }
        let (elements, overflow) = last.addingReportingOverflow(shape.count > 0 ? 1 : 0)
        let (bytes, tooMany) = elements.multipliedReportingOverflow(by: elementBytes)
        return overflow || tooMany ? nil : bytes
    }

    /// The bytes to read: those of the elements or, if more, of the whole range that they span.
    var readBytes: Int { max(byteCount ?? .max, (end ?? .max) - offset * elementBytes) }

    /// Whether the elements are contiguous in row-major order.
    private var isContiguous: Bool {
        var due = 1
        for (extent, stride) in zip(shape.dimensions, strides).reversed() where extent != 1 {
            guard stride == due else { return false }
            due *= extent
        }
        return true
    }

    /// Writes the elements in row-major order.
    ///
    /// - Parameter storage: The offset of the storage in the file. The view is within it.
    func fill(
        _ bytes: UnsafeMutableRawBufferPointer, from file: RegularFile, at storage: Int
    ) throws(TensorFileError) {
        guard shape.count > 0, let end else { return }
        let first = offset * elementBytes
        guard !isContiguous else { return try file.fill(bytes, at: storage + first) }
        let span = UnsafeMutableRawBufferPointer.allocate(byteCount: end - first, alignment: 16)
        defer { span.deallocate() }
        try file.fill(span, at: storage + first)
        switch elementBytes {
        case 1: gather(UInt8.self, from: span, into: bytes)
        case 2: gather(UInt16.self, from: span, into: bytes)
        case 4: gather(UInt32.self, from: span, into: bytes)
        default: gather(UInt64.self, from: span, into: bytes)
        }
    }

    private func gather<Element: BitwiseCopyable>(
        _: Element.Type, from span: UnsafeMutableRawBufferPointer,
        into bytes: UnsafeMutableRawBufferPointer
    ) {
        let (source, target) = (
            span.assumingMemoryBound(to: Element.self), bytes.assumingMemoryBound(to: Element.self)
        )
        // Not contiguous, so there is a dimension.
        let (inner, innerStride) = (shape.dimensions.last!, strides.last!)
        var index = [Int](repeating: 0, count: strides.count - 1)
        var from = 0
        for row in stride(from: 0, to: target.count, by: inner) {
            for column in 0..<inner { target[row + column] = source[from + column * innerStride] }
            // The next row: the last dimension that is not at its end advances, those after it
            // restart. Strides of extents of 1 can be any numbers: what they add is taken away.
            for axis in index.indices.reversed() {
                index[axis] += 1
                from &+= strides[axis]
                if index[axis] < shape.dimensions[axis] { break }
                from &-= index[axis] &* strides[axis]
                index[axis] = 0
            }
        }
    }
}
