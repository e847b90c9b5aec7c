import Colorizers
import TensorGraph

/// Everything that decides how a network is trained. The keys of the file, their ranges and what
/// they mean stand in ``ConfigurationField/all``.
package struct TrainingConfiguration: Hashable, Sendable {
    package struct Data: Hashable, Sendable {
        package var train = ""
        package var validation: String?
        package var validationFraction = 0.1
        package var validationPhotos = 64
        package var crop = 128
        package var minimumScale = 0.5
        package var flip = true
        package var lightness = 0.0
        package var contrast = 0.0
        package var cutouts: String?
        package var cutoutShare = 0.25
        package var hints = false
        package var cacheMegabytes = 1024
        package var loaderThreads = 1
    }

    package struct Loss: Hashable, Sendable {
        package enum Kind: String, CaseIterable, Hashable, Sendable {
            case l1, mse, huber, classification
        }

        package var kind = Kind.huber
        package var delta = 0.1
        package var saturation = 1.0
        package var classWeight = 0.0
        package var neighbors = 10
        package var sigma = 5.0
        package var rebalance: Double? = 0.5
        package var perceptual = 0.0
        package var perceptualNetwork: String?
        package var perceptualModules = "model2 model3"
        package var totalVariation = 0.0
        package var temporal = 0.0
    }

    package struct Distillation: Hashable, Sendable {
        package var teacher: String?
        package var weight = 0.5
        package var finalWeight: Double?
        package var logits = 0.0
        package var temperature = 1.0
        package var features: String?
        package var featureWeight = 1.0
    }

    package struct Optimizer: Hashable, Sendable {
        package enum Kind: String, CaseIterable, Hashable, Sendable {
            case sgd, adam, adamw
        }

        package var kind = Kind.adamw
        package var learningRate = 1e-3
        package var momentum = 0.9
        package var beta1 = 0.9
        package var beta2 = 0.999
        package var epsilon = 1e-8
        package var weightDecay = 0.01
        package var clipGradNorm: Double?
        package var ema: Double?
        package var groups: String?
    }

    /// What weights are rounded to on the way forward, as `retint quantize` will do it.
    package enum Quantization: String, CaseIterable, Hashable, Sendable {
        case none, int8, int4

        var rounding: WeightRounding? {
            switch self {
            case .none: nil
            case .int8: WeightRounding(bits: 8)
            case .int4: WeightRounding(bits: 4)
            }
        }
    }

    package var architecture = "mobile-unet"
    /// What is chosen about the architecture.
    package var network = ColorizerOptions()
    package var start: String?
    package var output = "Runs/training"
    package var seed = 0
    package var threads: Int?
    package var recompute = false
    package var quantization = Quantization.none
    package var freeze: String?
    package var batch = 16
    package var accumulate = 1
    package var overfitOneBatch = false
    package var anomaly = false
    package var steps = 10_000
    package var epochSteps: Int?
    package var timeLimit: Double?
    package var validateEvery = 500
    package var saveEvery = 500
    package var keepLast = 0
    package var patience: Int?
    package var logEvery = 20
    package var tensorboard = true
    package var data = Data()
    package var loss = Loss()
    package var distillation = Distillation()
    package var optimizer = Optimizer()
    package var schedule = Schedule()

    package init() {}
}
