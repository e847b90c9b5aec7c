import RetintArchitectures
import RetintColor
import RetintGraph
import RetintImages
import RetintLayers
import RetintTensors

/// The examples of a step.
struct Batch: Hashable, Sendable {
    /// The side of the crops, in pixels.
    let side: Int
    /// What the step is given.
    private(set) var inputs: [StepInput: TensorData]
    private let undamaged: TensorData?

    /// The values that networks and losses read.
    ///
    /// - Parameters:
    ///   - tones: a change of L for each image; empty: none.
    ///   - damaged: for each image the copy whose lightness is the network's input, or nil for
    ///     the image itself; empty: no image has one.
    /// - Precondition: the images are squares of the same size.
    init(_ images: [Image], tones: [Tone] = [], damaged: [Image?] = []) {
        side = images[0].width
        let (count, area) = (images.count, side * side)
        var (lightness, target, undamaged) = ([Float](), [Float](), [Float]())
        lightness.reserveCapacity(count * area)
        target.reserveCapacity(2 * count * area)
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
        let shape: Shape = [count, 1, side, side]
        let seen = TensorData(shape: shape, scalars: lightness)
        self.undamaged = hasDamage ? TensorData(shape: shape, scalars: undamaged) : seen
        inputs = [
            .lightness: seen, .target: TensorData(shape: [count, 2, side, side], scalars: target),
        ]
    }

    /// The pixels from which a step computes those values, see ``StepFeed``.
    ///
    /// - Parameters:
    ///   - tones: a change of L for each image.
    ///   - damaged: for each image the copy whose lightness is the network's input, or nil for
    ///     the image itself; empty: the step has no input for copies.
    ///   - needsLightness: whether lightness without damage is needed as well.
    /// - Precondition: the images are squares of the same size.
    init(pixelsOf images: [Image], tones: [Tone], damaged: [Image?], needsLightness: Bool) {
        side = images[0].width
        let shape: Shape = [images.count, 1, side, side]
        inputs = [
            .pixels: TensorData(shape: shape, scalars: PackedPixels.pack(images)),
            .tones: TensorData(
                shape: [images.count, 2],
                scalars: tones.flatMap { [Float($0.shift), Float($0.contrast)] }),
        ]
        if !damaged.isEmpty {
            let seen = zip(damaged, images).map { $0 ?? $1 }
            inputs[.damagedPixels] = TensorData(shape: shape, scalars: PackedPixels.pack(seen))
        }
        guard needsLightness else {
            undamaged = nil
            return
        }
        let lightness = zip(images, tones).flatMap { $1.apply(to: lab(fromRGB: $0.pixels).l) }
        undamaged = TensorData(shape: shape, scalars: lightness)
    }

    /// What the network sees, L in 0…100: [N, 1, H, W].
    ///
    /// - Precondition: the step is given values.
    var lightness: TensorData { value(.lightness) }

    /// The same without the damage of old photos.
    ///
    /// - Precondition: the step is given values, or lightness is needed beside it.
    var undamagedLightness: TensorData {
        guard let undamaged else { preconditionFailure("no lightness was computed") }
        return undamaged
    }

    /// a and b, divided by 110: [N, 2, H, W].
    ///
    /// - Precondition: the step is given values.
    var target: TensorData { value(.target) }

    private func value(_ input: StepInput) -> TensorData {
        guard let value = inputs[input] else { preconditionFailure("no \(input) is given") }
        return value
    }

    /// Adds the targets of a classification.
    mutating func addClasses(_ targets: ClassTargets?) {
        guard let targets else { return }
        inputs.merge(targets.inputs(for: target)) { $1 }
    }

    /// Adds the colors of some pixels as hints.
    ///
    /// - Parameter randoms: a stream for each image.
    mutating func addHints(_ randoms: [RandomStream]) {
        inputs.merge(ColorHints.inputs(for: target, randoms)) { $1 }
    }
}
