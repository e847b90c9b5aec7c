import RetintArchitectures
import RetintColor
import RetintEngine
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
    /// The pixels that the step's program has to store before it runs.
    let uploads: [PixelUpload]
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
        uploads = []
    }

    /// The crops from which a step computes those values, see ``StepFeed``.
    ///
    /// - Parameters:
    ///   - side: of the crops, in pixels.
    ///   - tones: a change of L for each crop.
    ///   - feed: which inputs the step has.
    /// - Throws: `ImageError` if a crop is too large for JPEG compression.
    /// - Precondition: the images are squares of this side. All crops are images if lightness is
    ///   needed beside the step, and those that are compressed are.
    init(
        pixelsOf crops: [TrainingCrop], side: Int, tones: [Tone], for feed: StepFeed
    ) throws {
        self.side = side
        var made = PixelInputs(batch: crops.count, side: side, feed)
        for crop in crops { try made.add(crop) }
        uploads = made.uploads
        inputs = made.inputs
        inputs[.tones] = TensorData(
            shape: [crops.count, 2],
            scalars: tones.flatMap { [Float($0.shift), Float($0.contrast)] })
        guard feed.needsLightness else {
            undamaged = nil
            return
        }
        let lightness = zip(crops.compactMap(\.image), tones).flatMap {
            $1.apply(to: lab(fromRGB: $0.pixels).l)
        }
        undamaged = TensorData(shape: [crops.count, 1, side, side], scalars: lightness)
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

    /// Copies its pixels to the memory of a step's program.
    func store(in program: Program) {
        for upload in uploads {
            program.write(upload.pixels, to: StepFeed.pixels, at: upload.start)
        }
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
