import Foundation
import Retint
import Testing

/// The whole road through the public interface: train, convert, verify, quantize, verify, colorize.
@Suite struct LibraryTests {
    @Test func trainsConvertsVerifiesQuantizesAndColorizes() async throws {
        let folder = try Folder()
        let trainer = try Trainer(folder.configuration(steps: 4))
        var steps: [Int] = []
        var records = 0
        var outcome: Trainer.Outcome?
        for try await event in trainer.events() {
            switch event {
            case .step(let step, let loss):
                steps.append(step)
                #expect(loss.isFinite)
            case .metrics: records += 1
            case .finished(let reason): outcome = reason
            default: break
            }
        }
        #expect(steps == [1, 2, 3, 4] && records > 0 && outcome == .finished)

        let checkpoint = try Checkpoint(contentsOf: folder.url("run/last.h5"))
        let package = try checkpoint.package(ExportOptions(target: .iOS16, size: 64))
        let exact = try Model(package, name: "float32").verify(
            against: Model(checkpoint),
            options: VerificationOptions(tolerance: Tolerance(atol: 1e-4, rtol: 1e-5)))
        #expect(exact.passed && exact.comparedCount > 0)

        let photo = folder.photo(0)
        let calibration = [[NamedTensor("lightness", photo.lightness(height: 64, width: 64))]]
        let (small, report) = try package.quantized(
            QuantizationPlan(QuantizationScheme(.int8)), calibration: calibration)
        let (before, after) = (
            report.compressed.reduce(0) { $0 + $1.bytesBefore },
            report.compressed.reduce(0) { $0 + $1.bytesAfter }
        )
        #expect(after < before / 3 && report.bytesAfter < report.bytesBefore / 2)
        try small.write(to: folder.url("small.mlpackage"))

        let written = try Model(contentsOf: folder.url("small.mlpackage"))
        #expect(written.precision == .quantized)
        let coarse = try written.verify(against: Model(checkpoint))
        #expect(coarse.outputs.count == 1 && coarse.color != nil)

        let colored = try await Colorizer(written).colorize(photo)
        #expect(colored.width == photo.width && colored.height == photo.height)
        #expect(colored.pixels != photo.pixels)
    }

    @Test func cancellationSavesTheRunAndItResumes() async throws {
        let folder = try Folder()
        let configuration = folder.configuration(steps: 1000)
        let trainer = try Trainer(configuration)
        let training = Task {
            var last = 0
            var outcome: Trainer.Outcome?
            for try await event in trainer.events() {
                if case .step(let step, _) = event { last = step }
                if case .finished(let reason) = event { outcome = reason }
                if last == 2 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return (last, outcome)
        }
        let (last, outcome) = try await training.value
        #expect(outcome == .interrupted && last >= 2 && last < 1000)
        let saved = try Checkpoint(contentsOf: folder.url("run/last.h5"))
        #expect(saved.training != nil)

        var further = configuration
        further.steps = last + 1
        let resumed = try Trainer(further, resumes: true)
        var steps: [Int] = []
        for try await event in resumed.events() {
            if case .step(let step, _) = event { steps.append(step) }
        }
        #expect(steps.last == last + 1)
    }

    @Test func videosAreColoredFrameByFrame() async throws {
        let folder = try Folder()
        try Checkpoint(.named("pico-unet"), seed: 1).write(to: folder.url("colorizer.h5"))
        let (gray, colored) = (folder.url("gray.y4m").path, folder.url("colored.y4m").path)
        try writeVideo(of: 5, to: gray)
        try await color(gray, to: colored, with: folder.url("colorizer.h5").path)
        let (before, after) = (
            try FrameReader(contentsOf: gray), try FrameReader(contentsOf: colored)
        )
        for _ in 0..<5 {
            let (old, new) = (try #require(try before.next()), try #require(try after.next()))
            #expect(old.luma.bytes == new.luma.bytes)
            #expect(new.format == old.format.colored)
        }
        #expect(try after.next() == nil)
    }

    private func writeVideo(of count: Int, to path: String) throws {
        let header = try Y4MHeader("YUV4MPEG2 W64 H48 F25:1 Ip Cmono")
        let output = try FrameWriter(header, to: path)
        for number in 0..<count {
            let bytes = (0..<64 * 48).map { UInt8(truncatingIfNeeded: 3 * $0 + 7 * number) }
            try output.write(
                try Frame(header.format, luma: Frame.Plane(bytes: bytes, bytesPerRow: 64)))
        }
    }

    private func color(_ gray: String, to colored: String, with model: String) async throws {
        let video = try FrameReader(contentsOf: gray)
        let colorizer = try FrameColorizer(Model(contentsOf: model), video.header.format)
        let output = try FrameWriter(video.header.colored, to: colored)
        for try await frame in colorizer.colorized(video.frames) { try output.write(frame) }
    }

    @Test func aPathIsAStringAFilePathOrAURL() throws {
        let folder = try Folder()
        let checkpoint = try Checkpoint(
            .named("mobile-unet", .init(width: 0.25)), seed: 1)
        let path = folder.url("network.h5").path
        try checkpoint.write(to: path)
        let readings = [
            try Checkpoint(contentsOf: path), try Checkpoint(contentsOf: path.filePath),
            try Checkpoint(contentsOf: URL(fileURLWithPath: path)),
        ]
        #expect(readings.allSatisfy { $0.state == checkpoint.state })
    }

    @Test func whatCannotBeReadIsAnErrorThatNamesTheFile() throws {
        let error = #expect(throws: (any Error).self) { try Model(contentsOf: "missing.h5") }
        #expect("\(try #require(error))".contains("missing.h5"))
    }
}

/// A temporary folder with photos, removed at the end.
private final class Folder {
    private let root: URL

    init() throws {
        root = FileManager.default.temporaryDirectory
            .appendingPathComponent("library-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url("photos"), withIntermediateDirectories: true)
        for index in 0..<6 { try photo(index).write(to: url("photos/\(index).png")) }
    }

    deinit { try? FileManager.default.removeItem(at: root) }

    func url(_ name: String) -> URL { root.appendingPathComponent(name) }

    /// A picture of smooth color that differs from photo to photo.
    func photo(_ index: Int) -> Image {
        let (width, height) = (96, 80)
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                pixels += [UInt8(2 * x), UInt8(3 * y), UInt8((x + y + 31 * index) % 256)]
            }
        }
        return Image(width: width, height: height, pixels: pixels)
    }

    func configuration(steps: Int) -> TrainingConfiguration {
        var configuration = TrainingConfiguration()
        configuration.architecture = "mobile-unet"
        configuration.network.width = 0.25
        configuration.output = url("run").path
        configuration.data.train = url("photos").path
        configuration.data.validationFraction = 0.2
        configuration.data.crop = 64
        configuration.batch = 2
        configuration.steps = steps
        configuration.logEvery = 1
        configuration.validateEvery = 1000
        configuration.tensorboard = false
        return configuration
    }
}
