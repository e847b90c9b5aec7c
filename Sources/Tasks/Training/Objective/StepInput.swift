import RetintGraph
import RetintTensors

/// A tensor that a training step is given with each batch: its name in the step's graph, its shape,
/// and where its values come from.
enum StepInput: Hashable, Sendable {
    /// How crops are cut from the pixels in a program's memory, and the copies that were damaged on
    /// the CPU, each as a ``CropWindow``; the ``DamageNumbers`` of what the step damages; the
    /// changes of lightness. A step that is given them computes the next four.
    case crops, damagedCrops, damage, tones
    /// What the network sees: L in 0…100, of a ``Batch``.
    case lightness
    /// The photo's a and b divided by 110, of a ``Batch``.
    case target
    /// Distributions over ab bins and their weights, which ``ClassTargets`` makes of the target.
    case classes, classWeights
    /// a and b of some pixels, and 1 for those, which ``ColorHints`` takes from the target.
    case hints, mask
    /// The ``Teacher``'s a and b, divided by 110.
    case teacherColors
    /// The ``Teacher``'s unnormalized log-probabilities of ab bins.
    case teacherLogits
    /// The output of a module of the ``Teacher``.
    case teacherFeature(module: String)

    var name: String {
        switch self {
        case .crops: "crops"
        case .damagedCrops: "damaged_crops"
        case .damage: "damage"
        case .tones: "tones"
        case .lightness: "lightness"
        case .target: "target"
        case .classes: "classes"
        case .classWeights: "class_weights"
        case .hints: "hints"
        case .mask: "mask"
        case .teacherColors: "teacher"
        case .teacherLogits: "teacher_logits"
        case .teacherFeature(let module): "teacher.\(module)"
        }
    }

    /// - Returns: nil if the network has no such values, or they are of the teacher.
    func shape(in shapes: StepShapes) -> Shape? {
        switch self {
        case .crops, .damagedCrops:
            [shapes.lightness[0], CropWindow.length(side: shapes.lightness[3])]
        case .damage: shapes.damage
        case .lightness, .mask: shapes.lightness
        case .tones: [shapes.lightness[0], 2]
        case .target, .hints: shapes.lightness.withChannels(2)
        case .classes: shapes.logits
        case .classWeights: shapes.logits?.withChannels(1)
        case .teacherColors, .teacherLogits, .teacherFeature: nil
        }
    }

    /// Whether the ``Teacher`` provides it.
    var isOfTeacher: Bool {
        switch self {
        case .teacherColors, .teacherLogits, .teacherFeature: true
        case .crops, .damagedCrops, .damage, .tones, .lightness, .target, .classes, .classWeights,
            .hints, .mask:
            false
        }
    }
}

/// What the shapes of a step's inputs follow from.
struct StepShapes {
    /// [N, 1, H, W].
    let lightness: Shape
    /// The network's logits, [N, bins, H/4, W/4]; nil if it has none.
    var logits: Shape?
    /// The ``DamageNumbers``, [N, their length]; nil if the step damages no crops.
    var damage: Shape?
}

extension Shape {
    /// [N, C, H, W] with another C.
    fileprivate func withChannels(_ count: Int) -> Shape { [self[0], count, self[2], self[3]] }
}

extension [StepInput: TensorData] {
    /// By the names of the step's graph.
    var named: [String: TensorData] {
        reduce(into: [:]) { $0[$1.key.name] = $1.value }
    }
}
