import Glibc

/// How often each level of red, green and blue occurs in an image.
package struct ColorDistribution: Sendable {
    /// The shares of the 256 levels of each channel.
    private let shares: [[Double]]

    /// - Parameter pixels: interleaved 8-bit RGB, at least one pixel.
    package init(ofRGB pixels: [UInt8]) {
        var counts = [Int](repeating: 0, count: 3 * 256)
        for start in stride(from: 0, to: pixels.count - 2, by: 3) {
            for channel in 0..<3 { counts[256 * channel + Int(pixels[start + channel])] += 1 }
        }
        let total = Double(pixels.count / 3)
        shares = (0..<3).map { channel in
            counts[256 * channel..<256 * (channel + 1)].map { Double($0) / total }
        }
    }

    /// The Jensen–Shannon divergence of two images' levels, the mean over the channels: 0 if they
    /// are equal, ln 2 if no level occurs in both.
    package func divergence(from other: ColorDistribution) -> Double {
        zip(shares, other.shares).reduce(0) { $0 + divergence($1.0, $1.1) } / 3
    }

    private func divergence(_ first: [Double], _ second: [Double]) -> Double {
        zip(first, second).reduce(0) { sum, pair in
            let mean = (pair.0 + pair.1) / 2
            func term(_ share: Double) -> Double { share > 0 ? share * log(share / mean) : 0 }
            return sum + (term(pair.0) + term(pair.1)) / 2
        }
    }
}
