import RetintArchitectures
import RetintColor
import RetintGraph
import RetintImages
import RetintLayers
import RetintTensors

/// The examples of a step.
struct Batch: Hashable, Sendable {
    /// L in 0…100: [N, 1, H, W].
    let lightness: TensorData
    /// The same without the damage of old photos, for a teacher; nil without damage.
    private(set) var undamagedLightness: TensorData?
    /// a and b, divided by 110: [N, 2, H, W].
    let target: TensorData

    /// Other inputs of the objective: classes and their weights, hints and their mask.
    private(set) var extras: [StepInput: TensorData] = [:]

    /// - Parameters:
    ///   - tones: a change of L for each image; empty: none.
    ///   - damaged: for each image the copy whose lightness is the network's input, or nil for
    ///     the image itself; empty: no image has one.
    /// - Precondition: the images are squares of the same size.
    init(_ images: [Image], tones: [Tone] = [], damaged: [Image?] = []) {
        let side = images[0].width
        var (lightness, target, undamaged) = ([Float](), [Float](), [Float]())
        lightness.reserveCapacity(images.count * side * side)
        target.reserveCapacity(2 * images.count * side * side)
        let hasDamage = damaged.contains { $0 != nil }
        for (index, image) in images.enumerated() {
            let planes = lab(fromRGB: image.pixels)
            let own = tones.isEmpty ? planes.l : tones[index].apply(to: planes.l)
            if hasDamage { undamaged += own }
            if hasDamage, let copy = damaged[index] {
                let l = lab(fromRGB: copy.pixels).l
                lightness += tones.isEmpty ? l : tones[index].apply(to: l)
            } else {
                lightness += own
            }
            target += planes.a.map { $0 / LabScaling.colorRange }
            target += planes.b.map { $0 / LabScaling.colorRange }
        }
        let count = images.count
        self.lightness = TensorData(shape: [count, 1, side, side], scalars: lightness)
        if hasDamage {
            undamagedLightness = TensorData(shape: self.lightness.shape, scalars: undamaged)
        }
        self.target = TensorData(shape: [count, 2, side, side], scalars: target)
    }

    /// The side of the crops, in pixels.
    var side: Int { lightness.shape[3] }

    var inputs: [StepInput: TensorData] {
        extras.merging([.lightness: lightness, .target: target]) { $1 }
    }

    /// Adds the targets of a classification.
    mutating func addClasses(_ targets: ClassTargets?) {
        guard let targets else { return }
        extras.merge(targets.inputs(for: target)) { $1 }
    }

    /// Adds the colors of some pixels as hints.
    ///
    /// - Parameter randoms: a stream for each image.
    mutating func addHints(_ randoms: [RandomStream]) {
        extras.merge(ColorHints.inputs(for: target, randoms)) { $1 }
    }
}
