import RetintMLPackage

/// Resizing of images. The dialect's `interpolate` takes the value at position
/// (i + ½ − offset) / scale − ½ for output i.
enum Resizing: OperationFamily {
    static let writers: [String: OperationWriter] = [
        "upsample_bilinear": { graph, operation in
            let aligns = try operation.bool("align_corners", default: true)
            let centers = try operation.bool("half_pixel_centers", default: !aligns)
            guard aligns || centers else {
                throw NotWritable("an upsample_bilinear without half-pixel centers is not written")
            }
            return [
                try graph.interpolated(operation, .linear, aligns ? .alignedCorners : .halfPixels)
            ]
        },
        "upsample_nearest_neighbor": { graph, operation in
            [try graph.interpolated(operation, .nearest, .halfPixels)]
        },
        "resize_bilinear": { graph, operation in
            let modes: [String: SamplingGrid] = [
                "STRICT_ALIGN_CORNERS": .alignedCorners, "UNALIGN_CORNERS": .halfPixels,
                "DEFAULT": .legacy,
            ]
            let mode = try operation.string("sampling_mode", default: "DEFAULT")
            guard let grid = modes[mode] else {
                throw NotWritable("a resize_bilinear with sampling_mode \(mode) is not written")
            }
            return [try graph.interpolated(operation, .linear, grid)]
        },
    ]

    static let readers: [String: OperationReader] = [
        "primitive.interpolate_v1": { graph, operation in
            let (x, result) = try (operation.value(0).shape(operation), operation.shape())
            let scales = try operation.numbers(2, count: x.count)
            let offsets = try operation.numbers(3, count: x.count)
            guard x.count == 4, result.count == 4, x.prefix(2) == result.prefix(2),
                x.allSatisfy({ $0 > 0 })
            else {
                throw operation.error("it resizes other axes than height and width")
            }
            let axes = [2, 3].map { axis in
                SamplingGrid.matching(
                    scale: scales[axis], offset: offsets[axis], from: x[axis], to: result[axis])
            }
            guard let mode = InterpolationMode(rawValue: try operation.mode()),
                let grid = SamplingGrid.common(axes)
            else { throw operation.error("its scales and offsets are not supported") }
            return [try graph.resized(operation, mode, grid, from: x, to: result)]
        }
    ]
}

/// The position among `in` inputs from which output i of `out` takes its value.
enum SamplingGrid: CaseIterable {
    /// (i + ½) · in / out − ½
    case halfPixels
    /// i · (in − 1) / (out − 1)
    case alignedCorners
    /// i · in / out
    case legacy

    func scale(from input: Int, to output: Int) -> Float {
        guard self == .alignedCorners else { return Float(output) / Float(input) }
        return input > 1 && output > 1 ? Float(output - 1) / Float(input - 1) : 1
    }

    func offset(from input: Int, to output: Int) -> Float {
        self == .halfPixels ? 0 : 0.5 * (1 - scale(from: input, to: output))
    }

    /// The grids that a scale and an offset describe.
    static func matching(scale: Float, offset: Float, from input: Int, to output: Int) -> Set<Self>
    {
        func isClose(_ x: Float, _ y: Float) -> Bool { abs(x - y) <= 1e-4 * max(abs(y), 1) }
        let grids = allCases.filter {
            isClose(scale, $0.scale(from: input, to: output))
                && isClose(offset, $0.offset(from: input, to: output))
        }
        return Set(grids)
    }

    /// A grid that all axes have.
    static func common(_ axes: [Set<Self>]) -> Self? {
        allCases.first { grid in axes.allSatisfy { $0.contains(grid) } }
    }
}

extension GraphWriter {
    fileprivate func interpolated(
        _ operation: WrittenOperation, _ mode: InterpolationMode, _ grid: SamplingGrid
    ) throws -> WrittenValue {
        let x = try operation.value("x")
        try requireImages(x)
        let shape = operation.type.shape ?? []
        let sizes = zip(x.shape, shape)
        let scales = sizes.map { $0 == $1 ? 1 : grid.scale(from: $0, to: $1) }
        let offsets = sizes.map { $0 == $1 ? 0 : grid.offset(from: $0, to: $1) }
        return try add(
            "primitive.interpolate_v1",
            [x, try signed(shape), try constant(.floats(scales)), try constant(.floats(offsets))],
            operation.type, mode: (Dialect.AttributeCode.interpolationMode, mode.rawValue))
    }
}

extension GraphReader {
    fileprivate func resized(
        _ operation: ReadOperation, _ mode: InterpolationMode, _ grid: SamplingGrid,
        from x: [Int], to result: [Int]
    ) throws -> ReadValue {
        let isMultiple = [2, 3].allSatisfy { result[$0] % x[$0] == 0 }
        let factors: [String: MILOperand] = [
            "x": try operation.operand(0),
            "scale_factor_height": .constant(.float(Float(result[2] / x[2]))),
            "scale_factor_width": .constant(.float(Float(result[3] / x[3]))),
        ]
        switch (mode, grid) {
        case (.nearest, .halfPixels) where isMultiple:
            return try add("upsample_nearest_neighbor", factors, operation)
        case (.nearest, _):
            throw operation.error("nearest neighbors are only supported for integer factors")
        case (.linear, .halfPixels) where isMultiple, (.linear, .alignedCorners) where isMultiple:
            let isAligned = MILOperand.constant(.bool(grid == .alignedCorners))
            return try add(
                "upsample_bilinear", factors.merging(["align_corners": isAligned]) { $1 },
                operation)
        case (.linear, _):
            let modes: [SamplingGrid: String] = [
                .alignedCorners: "STRICT_ALIGN_CORNERS", .halfPixels: "UNALIGN_CORNERS",
                .legacy: "DEFAULT",
            ]
            return try add(
                "resize_bilinear",
                [
                    "x": operation.operand(0),
                    "target_size_height": .constant(.integer(Int32(clamping: result[2]))),
                    "target_size_width": .constant(.integer(Int32(clamping: result[3]))),
                    "sampling_mode": .constant(.string(modes[grid] ?? "")),
                ], operation)
        }
    }
}
