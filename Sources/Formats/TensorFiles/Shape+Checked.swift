import RetintTensors

extension Shape {
    /// A shape whose element count fits an `Int`, zero extents left out of the product.
    init(checked extents: [UInt64], _ place: FilePlace) throws(TensorFileError) {
        var count = 1
        for extent in extents {
            let (product, overflow) = count.multipliedReportingOverflow(
                by: max(Int(clamping: extent), 1))
            guard !overflow, product < Int.max else {
                throw place.error(.refused, "its shape \(extents) is too large")
            }
            count = product
        }
        self.init(extents.map(Int.init))
    }
}
