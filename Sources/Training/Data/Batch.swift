import ColorScience
import ImageIO
import TensorGraph

/// Examples for one step.
struct Batch: Hashable, Sendable {
    /// L in 0…100: [N, 1, H, W].
    let lightness: TensorData
    /// a and b, divided by 110: [N, 2, H, W].
    let target: TensorData

    /// What else the objective compares with: classes, hints.
    var extras: [String: TensorData] = [:]

    static let abScale: Float = 110

    /// - Parameter tones: what becomes of each picture's L; empty: nothing.
    /// - Precondition: the pictures are squares of one size.
    init(_ pictures: [Image], tones: [Tone] = []) {
        let side = pictures[0].width
        var (lightness, target) = ([Float](), [Float]())
        lightness.reserveCapacity(pictures.count * side * side)
        target.reserveCapacity(2 * pictures.count * side * side)
        for (index, picture) in pictures.enumerated() {
            let planes = lab(fromRGB: picture.pixels)
            lightness += tones.isEmpty ? planes.l : tones[index].apply(to: planes.l)
            target += planes.a.map { $0 / Self.abScale }
            target += planes.b.map { $0 / Self.abScale }
        }
        let count = pictures.count
        self.lightness = TensorData(shape: [count, 1, side, side], scalars: lightness)
        self.target = TensorData(shape: [count, 2, side, side], scalars: target)
    }

    var inputs: [String: TensorData] {
        extras.merging(["lightness": lightness, "target": target]) { $1 }
    }

    /// Adds what a classification compares with.
    mutating func classify(_ targets: ClassTargets?) {
        guard let targets else { return }
        extras.merge(targets.inputs(for: target)) { $1 }
    }
}
