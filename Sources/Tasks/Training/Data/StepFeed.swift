import RetintDistributed
import RetintEngine
import RetintGraph
import RetintImages
import RetintPhotoData
import RetintTensors

/// What loader threads prepare of a step's inputs, and what its program computes itself.
///
/// On the CPU, threads beside the step compute all values. A GPU computes them faster than they can
/// be copied to it: of a photo with 313 classes at a quarter of its size, a pixel takes 4 bytes and
/// its values 90. It is given crops, or how they are cut from photos in its memory.
struct StepFeed: Sendable {
    /// The classification targets, if the objective classifies.
    var classes: ClassTargets?
    /// Whether the program is given pixels; otherwise it is given lightness, colors and classes.
    var takesPixels = false
    /// The damage of what the network sees.
    var oldPhoto = OldPhotoSettings()
    /// The pixels of photos that the program keeps in memory, from which it cuts crops itself.
    var keptPixels = 0
    /// Whether lightness is needed beside the program as well: by a teacher that is not part of it,
    /// or for the photos of a validation.
    var needsLightness = false

    /// The examples of a step.
    ///
    /// - Parameter tones: a change of L for each crop.
    /// - Precondition: only for a program that is given pixels, crops are of photos in its memory.
    /// - Throws: `ImageError` if a crop is too large for JPEG compression.
    func batch(of crops: [TrainingCrop], side: Int, tones: [Tone]) throws -> Batch {
        if takesPixels {
            return try Batch(pixelsOf: crops, side: side, tones: tones, for: self)
        }
        let images = crops.map { crop in
            guard let image = crop.image else { preconditionFailure("the step has no photos") }
            return image
        }
        let damaged = try zip(images, crops).map { image, crop in
            try crop.damage.map { try image.damaged(by: $0) }
        }
        var batch = Batch(images, tones: tones, damaged: damaged)
        batch.addClasses(classes)
        return batch
    }

    /// An input of the step: a value that it is given, or what the program computes of pixels.
    ///
    /// - Precondition: it has a shape.
    func tensor(_ input: StepInput, _ graph: Graph, _ shapes: StepShapes) -> Tensor {
        let given = given(graph, shapes)
        guard takesPixels else { return given[input] }
        switch input {
        case .lightness:
            return PackedPixels.lightness(seenPixels(given), tones: given[.tones])
        case .target: return PackedPixels.colors(pixels(.crops, given))
        case .classes, .classWeights:
            guard let classes else { return given[input] }
            return classes.tensor(input, of: tensor(.target, graph, shapes))
        default: return given[input]
        }
    }

    /// L without damage, [N, 1, H, W], for a teacher in the step's program.
    ///
    /// - Precondition: the program is given pixels.
    func undamagedLightness(_ graph: Graph, _ shapes: StepShapes) -> Tensor {
        let given = given(graph, shapes)
        return PackedPixels.lightness(pixels(.crops, given), tones: given[.tones])
    }

    /// The variable of all pixels that crops are cut from: those of the step's own crops, and after
    /// them those of photos that stay.
    static let pixels = "pixels"

    /// Where the pixels of photos begin.
    func photoStart(batch: Int, side: Int) -> Int { (hasCopies ? 2 : 1) * batch * side * side }

    /// How the step is told the damage of crops; nil if it damages none.
    var damageNumbers: DamageNumbers? {
        let kinds = OldPhotoSettings.Damage.allCases.filter { oldPhoto[$0] > 0 && $0 != .jpeg }
        return kinds.isEmpty ? nil : DamageNumbers(oldPhoto)
    }

    /// Whether crops have copies that were damaged on this machine: a step does not compress.
    var hasCopies: Bool { oldPhoto.jpeg > 0 }

    /// The pixels that the network sees, [N, 1, H, W].
    private func seenPixels(_ given: Given) -> Tensor {
        let pixels = pixels(hasCopies ? .damagedCrops : .crops, given)
        guard let damageNumbers else { return pixels }
        return DamageOfCrops.applied(damageNumbers, to: pixels, given[.damage])
    }

    /// The pixels of crops, [N, 1, H, W].
    private func pixels(_ crops: StepInput, _ given: Given) -> Tensor {
        let shape = given.shapes.lightness
        let count = photoStart(batch: shape[0], side: shape[3]) + keptPixels
        let all = given.graph.variable(Self.pixels, [count], role: .setting)
        return given.graph.apply(CropsOfPhotos(side: shape[3]), [all, given[crops]])
    }

    private func given(_ graph: Graph, _ shapes: StepShapes) -> Given {
        var shapes = shapes
        shapes.damage = damageNumbers.map { [shapes.lightness[0], $0.length] }
        return Given(graph: graph, shapes: shapes)
    }

    private struct Given {
        let graph: Graph
        let shapes: StepShapes

        subscript(input: StepInput) -> Tensor {
            guard let shape = input.shape(in: shapes) else {
                preconditionFailure("the step has no input \(input.name)")
            }
            return graph.input(input.name, shape)
        }
    }
}

extension TrainingConfiguration {
    private var isOnGPU: Bool { if case .cuda = device { true } else { false } }

    /// The threads that prepare the batches of a rank.
    func loaderThreads(_ ranks: Communicator) -> Int {
        data.loaderThreads
            ?? (isOnGPU ? min(max(Machine.processorCount / ranks.size, 1), 16) : 1)
    }

    /// How the steps of this training are fed.
    func feed(_ classes: ClassTargets?) -> StepFeed {
        // Hints are drawn from the colors of each crop.
        let takesPixels = isOnGPU && !data.hints
        let isBeside = distillation.teacher.map { !takesPixels || !Teacher.hasNetwork($0) }
        return StepFeed(
            classes: classes, takesPixels: takesPixels, oldPhoto: oldPhoto,
            needsLightness: isBeside ?? false)
    }
}
