import CRetintImageCodecs

extension Image {
    /// The image at another size, with the same bytes as Pillow's `resize`.
    ///
    /// - Precondition: The new sides are positive.
    public func resized(
        to width: Int, height: Int, filter: ResampleFilter = .bicubic
    ) -> Image {
        precondition(width > 0 && height > 0, "cannot resize to \(width) × \(height)")
        checkPixels()
        if Self.losesRowsFirst(from: (self.width, self.height), to: (width, height)) {
            return resized(toHeight: height, filter).resized(toWidth: width, filter)
        }
        return resized(toWidth: width, filter).resized(toHeight: height, filter)
    }

    /// Whether rows are resized before columns. The order matters by one level, since bytes are
    /// rounded between the passes.
    package static func losesRowsFirst(
        from old: (width: Int, height: Int), to new: (width: Int, height: Int)
    ) -> Bool {
        // As Pillow from version 13 on: an image that loses far more rows than columns.
        let rowsLost = old.height - new.height
        return rowsLost > 0 && rowsLost > 2 * (old.width - new.width)
    }

    private func resized(toWidth newWidth: Int, _ filter: ResampleFilter) -> Image {
        guard newWidth != width else { return self }
        let plan = ResamplePlan(from: width, to: newWidth, filter: filter)
        return Image(
            width: newWidth, height: height,
            pixels: resizeRows(pixels, plan, width: width, rows: height))
    }

    private func resized(toHeight newHeight: Int, _ filter: ResampleFilter) -> Image {
        guard newHeight != height else { return self }
        let plan = ResamplePlan(from: height, to: newHeight, filter: filter)
        return Image(
            width: width, height: newHeight,
            pixels: resizeColumns(pixels, plan, pitch: 3 * width))
    }
}

/// One channel of values at another size, as `Image.resized(to:height:filter:)`, but not rounded.
///
/// - Parameter plane: `width * height` values, row by row from the top.
/// - Precondition: The sides are positive and `plane` fills the old ones.
package func resizePlane(
    _ plane: [Float], width: Int, height: Int, toWidth newWidth: Int, toHeight newHeight: Int,
    filter: ResampleFilter = .bicubic
) -> [Float] {
    precondition(
        width > 0 && height > 0 && newWidth > 0 && newHeight > 0 && plane.count == width * height,
        "cannot resize \(plane.count) values, \(width) × \(height), to \(newWidth) × \(newHeight)")
    let resampler = PlaneResampler(
        from: (width, height), to: (newWidth, newHeight), filter: filter)
    let wide = newWidth == width ? plane : resampler.widened(plane)
    if newHeight == height { return wide }
    return filled(newWidth * newHeight) { output in
        for row in 0..<newHeight {
            resampler.blendRows(wide, forRow: row, into: output + newWidth * row)
        }
    }
}

// MARK: Bytes

private func resizeRows(
    _ input: [UInt8], _ plan: ResamplePlan, width: Int, rows: Int
) -> [UInt8] {
    let plan = plan.padded(to: 8, input: width)
    let weights = plan.integerWeights(repeating: 3)
    let pitch = 3 * plan.counts.count
    return filled(pitch * rows) { output in
        input.withUnsafeBufferPointer { input in
            plan.withWindows(weightsPerSample: 3) { windows in
                for row in 0..<rows {
                    resample_row_rgb8(
                        input.baseAddress! + 3 * width * row, output + pitch * row, windows,
                        weights)
                }
            }
        }
    }
}

private func resizeColumns(_ input: [UInt8], _ plan: ResamplePlan, pitch: Int) -> [UInt8] {
    let weights = plan.integerWeights(repeating: 1)
    return filled(pitch * plan.counts.count) { output in
        plan.forEachWindow(input, weights) { row, start, count, weight in
            resample_column_8(
                start(pitch), pitch, count, weight, output + pitch * row, pitch)
        }
    }
}

// MARK: Buffers

/// An array that a function fills.
func filled<Element, Failure>(
    _ count: Int, _ fill: (UnsafeMutablePointer<Element>) throws(Failure) -> Void
) throws(Failure) -> [Element] {
    var failure: Failure?
    let elements = [Element](unsafeUninitializedCapacity: count) { buffer, initialized in
        do throws(Failure) {
            try fill(buffer.baseAddress!)
            initialized = count
        } catch {
            failure = error
        }
    }
    if let failure { throw failure }
    return elements
}

extension ResamplePlan {
    func withWindows(weightsPerSample: Int, _ body: (ResampleWindows) -> Void) {
        starts.withUnsafeBufferPointer { starts in
            counts.withUnsafeBufferPointer { counts in
                body(
                    ResampleWindows(
                        count: Int32(starts.count), stride: Int32(weightsPerSample * stride),
                        starts: starts.baseAddress!, counts: counts.baseAddress!))
            }
        }
    }

    /// Calls `body` for each output row with its index, a function from the pitch of the
    /// rows to its first input row, the number of input rows and their weights.
    fileprivate func forEachWindow<Sample, Weight>(
        _ input: [Sample], _ weights: [Weight],
        _ body: (Int, (Int) -> UnsafePointer<Sample>, Int32, UnsafePointer<Weight>) -> Void
    ) {
        input.withUnsafeBufferPointer { input in
            weights.withUnsafeBufferPointer { weights in
                for row in starts.indices {
                    let start = { input.baseAddress! + $0 * Int(starts[row]) }
                    body(row, start, counts[row], weights.baseAddress! + stride * row)
                }
            }
        }
    }
}
