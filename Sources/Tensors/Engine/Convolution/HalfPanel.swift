import CRetintKernels

/// A panel of 16-bit weights: the factor for its products, then pairs of rows.
struct HalfPanel {
    let memory: UnsafeMutablePointer<Float>

    /// Operands of products are below 2^this: weights, transforms and inputs.
    static let exponent = 4
    private static let header = 16

    /// Floats of a panel with `values` values.
    static func count(_ values: Int) -> Int { header + (values + 1) / 2 }

    var unscale: Float { memory[0] }

    var values: UnsafeMutablePointer<rt_half> {
        (memory + Self.header).halves
    }

    /// Rounds runs of `rows` rows, which begin `step` floats apart, and `halfStep` values apart
    /// here.
    func fill(
        from source: UnsafePointer<Float>, runs: Int, rows: Int, step: Int, halfStep: Int,
        _ format: rt_format
    ) {
        let largest = (0..<runs).reduce(Float(0)) {
            max($0, rt_max_abs(source + $1 * step, rows * panelWidth))
        }
        let scale = format.scale(of: largest, below: Self.exponent)
        memory[0] = 1 / scale
        for run in 0..<runs {
            rt_pair_rows(values + run * halfStep, source + run * step, rows, scale, format)
        }
    }

    /// The reverse, for one run.
    func unpack(_ rows: Int, into target: UnsafeMutablePointer<Float>, _ format: rt_format) {
        rt_unpair_rows(target, values, rows, unscale, format)
    }
}

extension UnsafeMutablePointer<Float> {
    /// The same memory as 16-bit values.
    var halves: UnsafeMutablePointer<rt_half> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: rt_half.self)
    }
}
