import RetintCUDA
import RetintCompiler
import RetintGraph
import RetintImages
import RetintTensors

/// Square crops as ``PackedPixels``, [N, 1, side, side]. Inputs: the packed pixels of photos, one
/// after another, rank 1; a ``CropWindow`` for each crop, [N, its numbers].
struct CropsOfPhotos: HostOperation, DeviceOperation {
    static let name = "crops_of_photos"

    let side: Int

    func outputShape(for inputs: [Shape]) throws(ShapeError) -> Shape {
        try requireInputs(inputs, 2...2)
        try requireRank(inputs[0], 1)
        try requireRank(inputs[1], 2)
        let length = CropWindow.length(side: side)
        try require(
            inputs[1][1] == length,
            "a crop of \(side) pixels has \(length) numbers, not \(inputs[1][1])")
        return [inputs[1][0], 1, side, side]
    }

    func evaluate(_ inputs: [TensorData]) throws -> TensorData {
        let (photos, windows) = (inputs[0].scalars, inputs[1].scalars)
        let (count, length) = (inputs[1].shape[0], inputs[1].shape[1])
        let crops = (0..<count).flatMap { index in
            let window = WindowReader(numbers: windows[index * length..<(index + 1) * length])
            return (0..<side * side).map {
                window.pixel(x: $0 % side, y: $0 / side, side: side, of: photos)
            }
        }
        return TensorData(shape: [count, 1, side, side], scalars: crops)
    }

    func deviceKernels(inputs: [Buffer], output: Buffer) -> [DeviceKernel] {
        let length = CropWindow.length(side: side)
        typealias Place = CropWindow.Place
        let (taps, tapLength) = (CropWindow.mostTaps, CropWindow.tapLength)
        let bits = ByteTaps.precisionBits
        let half = 1 << (bits - 1)
        return [
            .each(
                Self.name, inputs + [output], output.count,
                """
                {
                const float *window = p1 + (long long)(i / \(side * side)) * \(length);
                const int y = i / \(side) % \(side), column = i % \(side);
                const int x = window[\(Place.isMirrored)] != 0.0f ? \(side - 1) - column : column;
                const long long high = (long long)window[\(Place.start)];
                const long long start = (high << \(CropWindow.positionBits))
                    + (long long)window[\(Place.start + 1)];
                const long long row_length = (long long)window[\(Place.rowLength)];
                const float *columns = window + \(Place.taps) + x * \(tapLength);
                const float *rows = window + \(Place.taps) + (\(side) + y) * \(tapLength);
                const int rows_first = window[\(Place.rowsFirst)] != 0.0f;
                const float *inner = rows_first ? rows : columns;
                const float *outer = rows_first ? columns : rows;
                const long long inner_step = rows_first ? row_length : 1;
                const long long outer_step = rows_first ? 1 : row_length;
                const float *photo = p0 + start + (long long)inner[0] * inner_step
                    + (long long)outer[0] * outer_step;
                int sums[3] = {\(half), \(half), \(half)};
                for (int a = 0; a < \(taps); a++) {
                    const int weight = (int)outer[1 + a];
                    if (weight == 0) continue;
                    int parts[3] = {\(half), \(half), \(half)};
                    for (int b = 0; b < \(taps); b++) {
                        const int own = (int)inner[1 + b];
                        if (own == 0) continue;
                        const unsigned pixel = (unsigned)photo[a * outer_step + b * inner_step];
                        for (int c = 0; c < 3; c++)
                            parts[c] += own * (int)((pixel >> (8 * c)) & 255);
                    }
                    for (int c = 0; c < 3; c++) {
                        const int level = parts[c] >> \(bits);
                        sums[c] += weight * (level < 0 ? 0 : level > 255 ? 255 : level);
                    }
                }
                float packed = 0.0f;
                for (int c = 2; c >= 0; c--) {
                    const int level = sums[c] >> \(bits);
                    const int byte = level < 0 ? 0 : level > 255 ? 255 : level;
                    packed = packed * 256.0f + window[\(Place.levels) + 256 * c + byte];
                }
                p2[i] = packed;
                }
                """)
        ]
    }
}

/// The numbers of a ``CropWindow`` in those of many.
private struct WindowReader {
    let numbers: ArraySlice<Float>

    private func number(_ place: Int) -> Int { Int(numbers[numbers.startIndex + place]) }

    /// A pixel of the crop, packed.
    func pixel(x column: Int, y: Int, side: Int, of photos: [Float]) -> Float {
        typealias Place = CropWindow.Place
        let x = number(Place.isMirrored) != 0 ? side - 1 - column : column
        let rowLength = number(Place.rowLength)
        let columns = Taps(self, line: x, step: 1)
        let rows = Taps(self, line: side + y, step: rowLength)
        let isRowsFirst = number(Place.rowsFirst) != 0
        let (inner, outer) = isRowsFirst ? (rows, columns) : (columns, rows)
        let start = number(Place.start) << CropWindow.positionBits + number(Place.start + 1)
        var sums = SIMD3<Int32>()
        for (place, weight) in outer.weighted {
            var parts = SIMD3<Int32>()
            for (own, factor) in inner.weighted {
                let pixel = Int32(photos[start + place + own])
                parts &+= factor &* SIMD3(pixel & 255, pixel >> 8 & 255, pixel >> 16)
            }
            sums &+= weight &* parts.bytes
        }
        let levels = sums.bytes
        return (0..<3).reversed().reduce(0) { packed, channel in
            packed * 256
                + numbers[
                    numbers.startIndex + Place.levels + 256 * channel + Int(levels[channel])]
        }
    }

    private struct Taps {
        /// Distances from the photo's first pixel, and the weights there.
        let weighted: [(place: Int, weight: Int32)]

        init(_ window: WindowReader, line: Int, step: Int) {
            let first = CropWindow.Place.taps + line * CropWindow.tapLength
            let start = window.number(first)
            weighted = (0..<CropWindow.mostTaps).compactMap { index in
                let weight = Int32(window.number(first + 1 + index))
                return weight == 0 ? nil : ((start + index) * step, weight)
            }
        }
    }
}

extension SIMD3<Int32> {
    fileprivate var bytes: SIMD3<Int32> {
        SIMD3(ByteTaps.byte(of: x), ByteTaps.byte(of: y), ByteTaps.byte(of: z))
    }
}
