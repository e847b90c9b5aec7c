import CRetintKernels

/// The formats of a convolution's operands.
struct OperandFormats: Hashable {
    /// The format of the weights in memory.
    let stored: rt_format
    /// The format of the products.
    let products: rt_format

    static let float32 = OperandFormats(stored: RT_FLOAT32, products: RT_FLOAT32)

    private init(stored: rt_format, products: rt_format) {
        (self.stored, self.products) = (stored, products)
    }

    init(_ options: CompileOptions) {
        stored = options.arithmetic.format
        let speed = rt_half_products(stored)
        let multiplies =
            switch options.halfProducts {
            case .never: false
            case .whereFaster: speed == RT_HALF_FASTER
            case .wherePossible: speed != RT_HALF_IMPOSSIBLE
            }
        products = multiplies ? stored : RT_FLOAT32
    }

    /// These, or float32 if the number of weight rows is odd.
    func fitting(depth: Int) -> OperandFormats { depth.isMultiple(of: 2) ? self : .float32 }
}

extension rt_format: @retroactive Hashable {
    var isHalf: Bool { self != RT_FLOAT32 }

    /// Bytes of an element.
    var size: Int { isHalf ? MemoryLayout<rt_half>.size : MemoryLayout<Float>.size }

    /// The factor that brings values up to `largest` below 2^`exponent`: a power of two,
    /// so that rounding does not depend on it. Sums of 128 products of values below 16 fit
    /// float16; bfloat16 has the range of float32.
    func scale(of largest: Float, below exponent: Int) -> Float {
        guard self == RT_FLOAT16, largest > 0, largest.isFinite else { return 1 }
        return Float(
            sign: .plus, exponent: min(max(exponent - 1 - Int(largest.exponent), -100), 100),
            significand: 1)
    }
}
