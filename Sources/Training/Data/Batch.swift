import ColorScience
import Colorizers
import ImageIO
import TensorGraph

/// The examples of a step.
struct Batch: Hashable, Sendable {
    /// L in 0…100: [N, 1, H, W].
    let lightness: TensorData
    /// a and b, divided by 110: [N, 2, H, W].
    let target: TensorData

    /// Further inputs of the objective: classes and their weights, hints and their mask.
    var extras: [String: TensorData] = [:]

    /// - Parameter tones: a change of L for each image; empty: none.
    /// - Precondition: the images are squares of the same size.
    init(_ images: [Image], tones: [Tone] = []) {
        let side = images[0].width
        var (lightness, target) = ([Float](), [Float]())
        lightness.reserveCapacity(images.count * side * side)
        target.reserveCapacity(2 * images.count * side * side)
        for (index, image) in images.enumerated() {
            let planes = lab(fromRGB: image.pixels)
            lightness += tones.isEmpty ? planes.l : tones[index].apply(to: planes.l)
            target += planes.a.map { $0 / LabScaling.colorRange }
            target += planes.b.map { $0 / LabScaling.colorRange }
        }
        let count = images.count
        self.lightness = TensorData(shape: [count, 1, side, side], scalars: lightness)
        self.target = TensorData(shape: [count, 2, side, side], scalars: target)
    }

    var inputs: [String: TensorData] {
        extras.merging(["lightness": lightness, "target": target]) { $1 }
    }

    /// Adds the targets of a classification.
    mutating func addClasses(_ targets: ClassTargets?) {
        guard let targets else { return }
        extras.merge(targets.inputs(for: target)) { $1 }
    }
}
