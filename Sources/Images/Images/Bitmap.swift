/// A Windows bitmap (BMP): uncompressed pixels of 1, 4, 8, 16, 24 or 32 bits, rows from the bottom.
///
/// Source: Microsoft, *Bitmap Storage*.
struct Bitmap {
    let width, height: Int
    private let bytes: [UInt8]
    private let isFromTop: Bool
    private let bits: Int
    private let pixelStart: Int
    private let rowBytes: Int
    /// Red, green and blue of an index; empty if pixels are colors.
    private let palette: [[UInt8]]
    /// The bits of red, green and blue in a pixel.
    private let masks: [UInt32]

    /// A rule of the format that a file breaks.
    struct Damage: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    private enum Compression {
        static let (none, masks, masksAndAlpha) = (0, 3, 6)
    }

    /// Reads the headers.
    init(_ bytes: [UInt8]) throws(Damage) {
        let header = Fields(bytes: bytes)
        let (start, size) = (try header.number(at: 10, 4), try header.number(at: 14, 4))
        let isOld = size == 12
        guard isOld || (40...124).contains(size) else {
            throw Damage("its header has \(size) bytes")
        }
        let rows = try isOld ? header.number(at: 20, 2) : header.signed(at: 22)
        width = try isOld ? header.number(at: 18, 2) : header.signed(at: 18)
        (height, isFromTop) = (Int(rows.magnitude), rows < 0)
        bits = try header.number(at: isOld ? 24 : 28, 2)
        let compression = isOld ? Compression.none : try header.number(at: 30, 4)
        guard width > 0, height > 0 else { throw Damage("it has no pixels") }
        let hasMasks = [Compression.masks, Compression.masksAndAlpha].contains(compression)
        guard compression == Compression.none || (hasMasks && [16, 32].contains(bits)) else {
            throw Damage("its pixels are compressed (kind \(compression))")
        }
        guard [1, 4, 8, 16, 24, 32].contains(bits) else {
            throw Damage("its pixels have \(bits) bits")
        }
        masks = try Self.masks(header, bits: bits, areStored: hasMasks)
        palette = bits <= 8 ? try Self.palette(header, size: size, bits: bits) : []
        (self.bytes, pixelStart) = (bytes, start)
        // Rows start at multiples of four bytes.
        rowBytes = (width * bits + 31) / 32 * 4
    }

    private static func masks(
        _ header: Fields, bits: Int, areStored: Bool
    ) throws(Damage) -> [UInt32] {
        guard areStored else {
            return bits == 16 ? [0x7c00, 0x03e0, 0x001f] : [0xff0000, 0x00ff00, 0x0000ff]
        }
        var masks: [UInt32] = []
        for place in [54, 58, 62] { masks.append(UInt32(try header.number(at: place, 4))) }
        return masks
    }

    private static func palette(
        _ header: Fields, size: Int, bits: Int
    ) throws(Damage) -> [[UInt8]] {
        let isOld = size == 12
        let stated = isOld ? 0 : try header.number(at: 46, 4)
        let most = 1 << bits
        let (count, entry) = (stated == 0 ? most : min(stated, most), isOld ? 3 : 4)
        var colors: [[UInt8]] = []
        for index in 0..<count {
            let color = try header.number(at: 14 + size + index * entry, 3)
            colors.append([16, 8, 0].map { UInt8(truncatingIfNeeded: color >> $0) })
        }
        return colors
    }

    /// Rows of red, green and blue from the top.
    func pixels() throws(Damage) -> [UInt8] {
        let (size, overflows) = rowBytes.multipliedReportingOverflow(by: height)
        guard !overflows, pixelStart <= bytes.count, size <= bytes.count - pixelStart else {
            throw Damage("the file ends before the image does")
        }
        var result: [UInt8] = []
        result.reserveCapacity(3 * width * height)
        for row in 0..<height {
            let stored = isFromTop ? row : height - 1 - row
            try append(row: pixelStart + stored * rowBytes, to: &result)
        }
        return result
    }

    private func append(row start: Int, to result: inout [UInt8]) throws(Damage) {
        if bits == 24 {
            for place in stride(from: start, to: start + 3 * width, by: 3) {
                result.append(bytes[place + 2])
                result.append(bytes[place + 1])
                result.append(bytes[place])
            }
        } else if palette.isEmpty {
            let channels = masks.map(Channel.init)
            for column in 0..<width {
                let pixel = pixel(at: start + column * bits / 8)
                for channel in channels { result.append(channel.value(in: pixel)) }
            }
        } else {
            for column in 0..<width {
                let place = column * bits
                let index =
                    Int(bytes[start + place / 8]) >> (8 - bits - place % 8) & ((1 << bits) - 1)
                guard index < palette.count else {
                    throw Damage("a pixel has the color \(index) of \(palette.count)")
                }
                result += palette[index]
            }
        }
    }

    private func pixel(at place: Int) -> UInt32 {
        (0..<bits / 8).reduce(0) { $0 | UInt32(bytes[place + $1]) << (8 * UInt32($1)) }
    }

    /// The bits of one color in a pixel.
    private struct Channel {
        let mask: UInt32
        let shift: Int
        let highest: UInt64

        init(_ mask: UInt32) {
            self.mask = mask
            shift = mask == 0 ? 0 : mask.trailingZeroBitCount
            highest = UInt64(mask >> UInt32(shift))
        }

        func value(in pixel: UInt32) -> UInt8 {
            guard highest > 0 else { return 0 }
            return UInt8(UInt64((pixel & mask) >> UInt32(shift)) * 255 / highest)
        }
    }

    /// Numbers in little-endian order.
    private struct Fields {
        let bytes: [UInt8]

        func number(at place: Int, _ count: Int) throws(Damage) -> Int {
            guard place + count <= bytes.count else { throw Damage("its header is incomplete") }
            return bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }

        func signed(at place: Int) throws(Damage) -> Int {
            Int(Int32(truncatingIfNeeded: try number(at: place, 4)))
        }
    }
}
