import RetintDistributed
import RetintEngine
import RetintGraph
import RetintImages

/// What loader threads prepare of a step's inputs, and what its program computes itself.
///
/// On the CPU, threads beside the step compute all values. A GPU computes them faster than they can
/// be copied to it: of a photo with 313 classes at a quarter of its size, a pixel takes 4 bytes and
/// its values 90.
struct StepFeed: Sendable {
    /// The classification targets, if the objective classifies.
    var classes: ClassTargets?
    /// Whether the program is given pixels; otherwise it is given lightness, colors and classes.
    var takesPixels = false
    /// Whether the network may see other pixels than those with the colors that it learns.
    var isDamaged = false
    /// Whether lightness is needed beside the program as well: by a teacher that is not part of it,
    /// or for the photos of a validation.
    var needsLightness = false

    /// The examples of a step.
    ///
    /// - Parameters:
    ///   - tones: a change of L for each crop.
    ///   - damaged: for each crop the copy whose lightness is the network's input, or nil for the
    ///     crop itself.
    func batch(of crops: [Image], tones: [Tone], damaged: [Image?]) -> Batch {
        if takesPixels {
            return Batch(
                pixelsOf: crops, tones: tones, damaged: isDamaged ? damaged : [],
                needsLightness: needsLightness)
        }
        var batch = Batch(crops, tones: tones, damaged: damaged)
        batch.addClasses(classes)
        return batch
    }

    /// An input of the step: a value that it is given, or what the program computes of pixels.
    ///
    /// - Precondition: it has a shape.
    func tensor(_ input: StepInput, _ graph: Graph, _ shapes: StepShapes) -> Tensor {
        let given = Given(graph: graph, shapes: shapes)
        guard takesPixels else { return given[input] }
        switch input {
        case .lightness:
            let pixels = given[isDamaged ? .damagedPixels : .pixels]
            return PackedPixels.lightness(pixels, tones: given[.tones])
        case .target: return PackedPixels.colors(given[.pixels])
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
        let given = Given(graph: graph, shapes: shapes)
        return PackedPixels.lightness(given[.pixels], tones: given[.tones])
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
            classes: classes, takesPixels: takesPixels, isDamaged: oldPhoto.canDamage,
            needsLightness: isBeside ?? false)
    }
}
