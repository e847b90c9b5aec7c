import RetintRuntime
import RetintTensors

/// A point of the search: for each input, the share of its range of each element, 0…1. The channels
/// of gray pictures have one share.
struct SearchPoint {
    var shares: [[Float]]
}

/// From the points of a search to a model's inputs.
struct SearchSpace {
    let inputs: [CertifiedInput]
    let shapes: [Shape]

    /// The number of shares of an input.
    func count(_ index: Int) -> Int {
        inputs[index].isGray ? shapes[index].count / channels(index) : shapes[index].count
    }

    private func channels(_ index: Int) -> Int {
        shapes[index].rank > 1 ? max(1, shapes[index][1]) : 1
    }

    /// The elements of a channel of an image.
    private func plane(_ index: Int) -> Int {
        guard shapes[index].rank > 1 else { return max(1, shapes[index].count) }
        return shapes[index].dimensions.dropFirst(2).reduce(1, *)
    }

    /// Calls `body` with each element, its channel, and the index of its share.
    private func forEachElement(_ index: Int, _ body: (Int, Int, Int) -> Void) {
        let (channels, plane) = (channels(index), plane(index))
        for element in 0..<shapes[index].count {
            let channel = element / plane % channels
            let image = element / (plane * channels)
            let share = inputs[index].isGray ? image * plane + element % plane : element
            body(element, channel, share)
        }
    }

    func tensors(_ point: SearchPoint) -> [NamedTensor] {
        inputs.indices.map { index in
            let input = inputs[index]
            var scalars = [Float](repeating: 0, count: shapes[index].count)
            forEachElement(index) { element, channel, share in
                scalars[element] = value(input, channel, point.shares[index][share])
            }
            return NamedTensor(input.name, TensorData(shape: shapes[index], scalars: scalars))
        }
    }

    private func value(_ input: CertifiedInput, _ channel: Int, _ share: Float) -> Float {
        guard input.levels.isEmpty else {
            return input.levels[min(channel, input.levels.count - 1)][Self.level(share)]
        }
        let range = input.ranges[min(channel, input.ranges.count - 1)]
        let value = range.lowerBound + share * (range.upperBound - range.lowerBound)
        return min(max(value, range.lowerBound), range.upperBound)
    }

    static func level(_ share: Float) -> Int { Int((min(max(share, 0), 1) * 255).rounded()) }

    /// The point after a step along the signs of gradients of the inputs.
    func step(_ point: SearchPoint, along gradients: [[Float]], by size: Float) -> SearchPoint {
        var point = point
        for index in inputs.indices {
            var sums = [Float](repeating: 0, count: count(index))
            forEachElement(index) { element, channel, share in
                let range = inputs[index].ranges[min(channel, inputs[index].ranges.count - 1)]
                let slope = gradients[index][element] * (range.upperBound - range.lowerBound)
                if slope.isFinite { sums[share] += slope }
            }
            for (share, sum) in sums.enumerated() where sum != 0 {
                let moved = point.shares[index][share] + (sum > 0 ? size : -size)
                point.shares[index][share] = min(max(moved, 0), 1)
            }
        }
        return point
    }

    /// Where searches begin: noise, black and white noise, white, black, a ramp, one level, and
    /// noise about a level.
    func start(_ number: Int, seed: UInt64) -> SearchPoint {
        var random = RandomStream(seed: seed, name: "start \(number)")
        let shares = inputs.indices.map { index in
            let width = max(1, shapes[index].dimensions.last ?? 1)
            let level = Float(random.uniform())
            return (0..<count(index)).map { element -> Float in
                switch number % 7 {
                case 0: Float(random.uniform())
                case 1: random.uniform() < 0.5 ? 0 : 1
                case 2: 1
                case 3: 0
                case 4: Float(element % width) / Float(max(1, width - 1))
                case 5: level
                default: min(max(level + 0.2 * Float(random.uniform() - 0.5), 0), 1)
                }
            }
        }
        return SearchPoint(shares: shares)
    }

    /// A point near another one, in one of eight elements.
    func perturbed(_ point: SearchPoint, by size: Float, _ random: inout RandomStream)
        -> SearchPoint
    {
        var point = point
        for index in point.shares.indices {
            for share in point.shares[index].indices where random.uniform() < 0.125 {
                let moved = point.shares[index][share] + size * Float(2 * random.uniform() - 1)
                point.shares[index][share] = min(max(moved, 0), 1)
            }
        }
        return point
    }

    /// The first image of a point as a picture; nil if no input takes pictures.
    func picture(_ point: SearchPoint) -> CertificatePicture? {
        guard let index = inputs.indices.first(where: { !inputs[$0].levels.isEmpty }) else {
            return nil
        }
        let (shape, plane) = (shapes[index], plane(index))
        let isSingle = inputs[index].isGray || channels(index) == 1
        let shares = point.shares[index]
        let pixels = (0..<plane).flatMap { pixel in
            (0..<3).map { color in
                UInt8(Self.level(shares[isSingle ? pixel : color * plane + pixel]))
            }
        }
        return CertificatePicture(
            input: inputs[index].name, width: shape[3], height: shape[2], pixels: pixels)
    }
}
