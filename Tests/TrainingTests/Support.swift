import Foundation
import RetintArchitectures
import RetintCheckpoints
import RetintDistributed
import RetintImages
import RetintLayers
import RetintPhotoData
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintTraining

extension TemporaryFolder {
    /// Writes noisy images of one color each, or of one gray.
    func addPhotos(_ count: Int, side: Int = 40, gray: Bool = false) throws {
        let folder = "\(path)/photos"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for number in 0..<count {
            var random = RandomStream(seed: 7, name: "\(number)")
            let color = (0..<3).map { _ in Int(random.next() % 220) }
            var pixels = (0..<3 * side * (side + 8)).map { index in
                UInt8(color[index % 3] + Int(random.next() % 32))
            }
            if gray { pixels = pixels.indices.map { pixels[$0 - $0 % 3] } }
            try Image(width: side + 8, height: side, pixels: pixels)
                .write(to: "\(folder)/\(number).png")
        }
    }

    /// A small training on the photos.
    func configuration(_ settings: String...) throws -> TrainingConfiguration {
        try configuration(settings)
    }

    func configuration(_ settings: [String]) throws -> TrainingConfiguration {
        var configuration = TrainingConfiguration()
        let small = [
            "width=0.25", "batch=2", "steps=6", "validate_every=2", "save_every=100",
            "log_every=1", "data.crop=32", "data.train=\(path)/photos", "output=\(path)/run",
            "threads=2",
        ]
        for setting in small + settings { try configuration.set(setting) }
        return configuration
    }

    /// Writes a checkpoint of random weights for a network to learn from, and returns its path.
    func makeTeacher(_ architecture: String, width: Double = 0.25) throws -> String {
        let teacher = "\(path)/teacher.h5"
        try Checkpoint(.named(architecture, .init(width: width)), seed: 5)
            .write(to: teacher)
        return teacher
    }

    /// The source of a training's batches.
    func source(
        _ configuration: TrainingConfiguration, ranks: Communicator = .single
    ) throws -> BatchSource {
        let photos = try PhotoFolder(configuration.data).training
        let cache = PhotoCache(
            photos, shortSide: 2 * configuration.data.crop, maximumBytes: 1 << 20)
        return try BatchSource(cache, configuration.batchOptions, ranks: ranks)
    }
}

extension Validator {
    /// Measures a network as a training with a configuration does.
    convenience init(
        _ network: any ColorizerNetwork, _ configuration: TrainingConfiguration,
        photos: [PhotoReference], ranks: Communicator = .single
    ) throws {
        try self.init(
            Objective(network, configuration.loss), configuration.validationOptions, photos: photos,
            ranks: ranks)
    }
}
