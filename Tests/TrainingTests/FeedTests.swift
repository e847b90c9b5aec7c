import Foundation
import RetintArchitectures
import RetintColor
import RetintCompiler
import RetintEngine
import RetintGraph
import RetintImages
import RetintLayers
import RetintPhotoData
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintCUDA
@testable import RetintTraining

/// What a step computes of pixels is what loader threads compute of them.
@Suite struct FeedTests {
    private let side = 16

    /// Noise, one color with few others, gray, nearly gray, and colors beyond all bins.
    private var crops: [Image] {
        var random = RandomStream(seed: 3, name: "crops")
        func image(_ pixel: (Int) -> [Int]) -> Image {
            Image(
                width: side, height: side,
                pixels: (0..<side * side).flatMap { pixel($0).map { UInt8(clamping: $0) } })
        }
        func level(_ range: Int) -> Int { Int(random.next() % UInt64(range)) }
        return [
            image { _ in (0..<3).map { _ in level(256) } },
            image { $0 == 37 ? [200, 10, 30] : [120, 121, 119] },
            image { [$0, $0, $0] },
            image { [$0, $0 + level(3), $0] },
            image { [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 0, 255]][$0 % 4] },
            image { index in (0..<3).map { 3 * (index / 16) + 40 * $0 + index % 16 } },
        ]
    }

    private let tones = [
        Tone(), Tone(shift: 12.5), Tone(shift: -30, contrast: 1.4), Tone(contrast: 0.5), Tone(),
        Tone(shift: 60, contrast: 2),
    ]

    private func targets(
        neighbors: Int, weights: Bool, neutral: Double, bins: ABBins = .inGamut
    ) -> ClassTargets {
        var ofGray = TrainingConfiguration.NeutralWeight()
        (ofGray.weight, ofGray.chroma) = (neutral, 20)
        return ClassTargets(
            bins: bins, stride: 4, neighbors: neighbors, sigma: 5,
            weights: weights ? bins.centers.indices.map { Float($0 % 7) + 0.5 } : nil,
            neutral: ofGray)
    }

    private func expectEqual(
        _ feed: StepFeed, damage: [OldPhotoDamage?] = [], on device: Execution.Device,
        within bound: Float
    ) throws {
        MockCUDA.install()
        let damaged = try zip(crops, damage).map { crop, damage in
            try damage.map { try crop.damaged(by: $0) }
        }
        var expected = Batch(crops, tones: tones, damaged: damaged)
        expected.addClasses(feed.classes)
        let graph = Graph()
        let shapes = StepShapes(
            lightness: [crops.count, 1, side, side],
            logits: feed.classes.map { [crops.count, $0.bins.count, side / 4, side / 4] })
        let inputs = expected.inputs.keys.sorted { $0.name < $1.name }
        let program = try Program(
            outputs: inputs.map { ($0.name, feed.tensor($0, graph, shapes) + 0) },
            options: Execution(device: device).compileOptions)
        let examples = crops.enumerated().map {
            TrainingCrop(source: .image($1), damage: damage.isEmpty ? nil : damage[$0])
        }
        let given = try feed.batch(of: examples, side: side, tones: tones)
        #expect(given.uploads.count == crops.count + damage.count { $0?.jpegQuality != nil })
        given.store(in: program)
        let values = try program.run(given.inputs.named)
        for input in inputs {
            let (found, wanted) = (try #require(values[input.name]), expected.inputs[input]!)
            #expect(found.shape == wanted.shape)
            let error = zip(found.scalars, wanted.scalars).reduce(Float(0)) {
                max($0, abs($1.0 - $1.1))
            }
            let size = wanted.scalars.reduce(Float(0)) { max($0, abs($1)) }
            #expect(error <= bound * size && size > 0, "\(input) on \(device): \(error)")
        }
    }

    @Test(
        arguments: [(Execution.Device.cpu, Float(0)), (.reference, 0), (.cuda(), 4e-6)],
        [false, true])
    func valuesAreThoseOfTheLoader(
        _ device: (kind: Execution.Device, bound: Float), _ isDamaged: Bool
    ) throws {
        // Damage of this machine; what a step damages, see below.
        var settings = OldPhotoSettings()
        settings.jpeg = isDamaged ? 0.5 : 0
        let damage: [OldPhotoDamage?] = crops.indices.map { index in
            let own = OldPhotoDamage(settings, of: (side, side), seed: 3, name: "\(index)")
            return own.isEmpty ? nil : own
        }
        #expect((1...5).contains(damage.count { $0 != nil }) == isDamaged)
        for (neighbors, weights, neutral) in [(5, true, 0.8), (1, false, 0), (10, true, 0)] {
            let feed = StepFeed(
                classes: targets(neighbors: neighbors, weights: weights, neutral: neutral),
                takesPixels: true, oldPhoto: settings)
            try expectEqual(feed, damage: damage, on: device.kind, within: device.bound)
        }
    }

    /// A crop that is compressed gets all its damage on this machine, once; others get theirs in
    /// the step. Where both are code of this machine, the values are the same.
    @Test(arguments: [(Execution.Device.cpu, Float(0)), (.reference, 0), (.cuda(), 6e-3)])
    func compressedCropsAreDamagedOnce(
        _ device: (kind: Execution.Device, bound: Float)
    ) throws {
        var settings = OldPhotoSettings([.fading, .dust])
        (settings.jpeg, settings.fadingStrength) = (0.5, 0.9)
        let damage = crops.indices.map {
            OldPhotoDamage(settings, of: (side, side), seed: 3, name: "\($0)")
        }
        #expect((1...5).contains(damage.count { $0.isCompressed }))
        let feed = StepFeed(takesPixels: true, oldPhoto: settings)
        try expectEqual(feed, damage: damage, on: device.kind, within: device.bound)
    }

    /// All bins of the grid: more than a color has near it.
    @Test func allBinsAreNear() throws {
        let feed = StepFeed(
            classes: targets(neighbors: 529, weights: true, neutral: 0, bins: .grid),
            takesPixels: true)
        try expectEqual(feed, on: .cuda(), within: 4e-6)
    }

    static let hasCompiler =
        (try? CUDALibrary(.nvrtc, environment: MockCUDA.userEnvironment)) != nil

    /// NVIDIA's compiler takes the kernels; `Scripts/check nvrtc` installs it.
    @Test(.enabled(if: hasCompiler, "there is no NVRTC"), arguments: [80, 90, 100])
    func everyKernelIsCompiled(_ computeCapability: Int) throws {
        let graph = Graph()
        let feed = StepFeed(
            classes: targets(neighbors: 5, weights: true, neutral: 1), takesPixels: true,
            oldPhoto: OldPhotoSettings([.blur, .jpeg]))
        let shapes = StepShapes(lightness: [2, 1, side, side], logits: [2, 313, 4, 4])
        for input in [StepInput.lightness, .target, .classes, .classWeights] {
            _ = feed.tensor(input, graph, shapes)
        }
        func buffer(_ shape: Shape) -> Buffer {
            Buffer(shape: shape, storage: Storage(kind: .owned, count: shape.count))
        }
        let sources = graph.nodes.flatMap { node in
            (node.operation as? any DeviceOperation)?.deviceKernels(
                inputs: node.inputs.map { buffer(graph.nodes[$0].shape) },
                output: buffer(node.shape)) ?? []
        }.map(\.source)
        #expect(Set(sources).count == 10)
        let nvrtc = try NVRTC(CUDALibrary(.nvrtc, environment: MockCUDA.userEnvironment))
        let code = try nvrtc.binary(of: Set(sources), computeCapability: computeCapability)
        for source in sources {
            #expect(code.firstRange(of: Array(".text.\(source.name)".utf8)) != nil)
        }
    }

    /// Crops of photos in a program's memory are those of images, bit by bit: smaller and larger
    /// ones, of all shapes, whose rows or columns are resized first, mirrored, and in other light.
    @Test(arguments: [Execution.Device.cpu, .reference, .cuda()])
    func cropsOfPhotosAreThoseOfImages(_ device: Execution.Device) throws {
        MockCUDA.install()
        var random = RandomStream(seed: 4, name: "photos")
        let photos = [(40, 31), (33, 90), (17, 16), (9, 14), (52, 36)].map { width, height in
            Image(
                width: width, height: height,
                pixels: (0..<3 * width * height).map { _ in UInt8(random.next() % 256) })
        }
        var squares = TrainingConfiguration.DataSettings()
        squares.minimumScale = 0.3
        var shapes = squares
        (shapes.minimumArea, shapes.ratio) = (0.2, 3)
        (shapes.exposure, shapes.whiteBalance) = (1, 0.4)
        var (crops, expected) = ([TrainingCrop](), [Float]())
        // The photos begin after two areas of crops.
        var start = 2 * side * side
        for (index, photo) in photos.enumerated() {
            var upload: PixelUpload? = PixelUpload(photo, at: start)
            for example in 0..<12 {
                let augmentation = Augmentation(
                    seed: UInt64(index), epoch: 0, index: example,
                    settings: example.isMultiple(of: 2) ? squares : shapes)
                guard
                    let window = augmentation.window(in: (photo.width, photo.height), side: side)
                else { continue }
                crops.append(
                    TrainingCrop(source: .window(window.moved(to: start), upload: upload)))
                upload = nil
                expected += PackedPixels.pack([augmentation.apply(to: photo, side: side)])
            }
            start += photo.width * photo.height
        }
        #expect(crops.count > 55)
        let graph = Graph()
        let operation = CropsOfPhotos(side: side)
        let pixels = graph.variable(StepFeed.pixels, [start], role: .setting)
        let windows = graph.input(
            StepInput.crops.name, [crops.count, CropWindow.length(side: side)])
        let program = try Program(
            outputs: [("crops", graph.apply(operation, [pixels, windows]))],
            options: Execution(device: device).compileOptions)
        let feed = StepFeed(takesPixels: true)
        let batch = try feed.batch(of: crops, side: side, tones: crops.map { _ in Tone() })
        #expect(batch.uploads.count == photos.count)
        batch.store(in: program)
        let found = try #require(program.run(batch.inputs.named)["crops"])
        #expect(found.shape == [crops.count, 1, side, side] && found.scalars == expected)
    }

    /// Damage that a step adds is that of images: the same bytes where code of this machine adds
    /// it, and to rounding on a GPU.
    @Test(
        arguments: [Execution.Device.cpu, .reference, .cuda()],
        OldPhotoSettings.Damage.allCases.map { [$0] } + [OldPhotoSettings.Damage.allCases])
    func damageOfCropsIsThatOfImages(
        _ device: Execution.Device, _ kinds: [OldPhotoSettings.Damage]
    ) throws {
        MockCUDA.install()
        let side = 48
        var random = RandomStream(seed: 8, name: "crops")
        let crops = (0..<6).map { _ in
            let pixels = (0..<3 * side * side).map {
                UInt8(($0 / 7 + Int(random.next() % 90)) % 256)
            }
            return Image(width: side, height: side, pixels: pixels)
        }
        var settings = OldPhotoSettings(kinds.filter { $0 != .jpeg })
        (settings.blurDeviation, settings.sepiaStrength) = (12, 0.8)
        let feed = StepFeed(takesPixels: true, oldPhoto: settings)
        guard let layout = feed.damageNumbers else { return #expect(kinds == [.jpeg]) }
        let damage = crops.indices.map { index in
            let own = OldPhotoDamage(settings, of: (side, side), seed: 2, name: "\(index)")
            return index == 2 ? nil : own
        }
        let graph = Graph()
        let pixels = graph.input("pixels", [crops.count, 1, side, side])
        let numbers = graph.input(StepInput.damage.name, [crops.count, layout.length])
        let program = try Program(
            outputs: [("seen", DamageOfCrops.applied(layout, to: pixels, numbers))],
            options: Execution(device: device).compileOptions)
        let batch = try feed.batch(
            of: zip(crops, damage).map { TrainingCrop(source: .image($0), damage: $1) }, side: side,
            tones: crops.map { _ in Tone() })
        var inputs = batch.inputs.named
        inputs["pixels"] = TensorData(shape: pixels.shape, scalars: PackedPixels.pack(crops))
        let seen = try #require(program.run(inputs)["seen"])
        let found = PackedPixels.unpack(seen.scalars)
        let expected = try zip(crops, damage).flatMap { crop, damage in
            try damage.map { try crop.damaged(by: $0) }?.pixels ?? crop.pixels
        }
        let errors = zip(found, expected).map { abs(Int($0) - Int($1)) }
        #expect(found.count == expected.count)
        #expect(crops.flatMap(\.pixels) != expected)
        if case .cuda = device {
            #expect(errors.allSatisfy { $0 <= 1 })
            #expect(errors.count { $0 > 0 } <= errors.count / 1000)
        } else {
            #expect(errors.allSatisfy { $0 == 0 })
        }
    }

    /// What a program cannot make of a photo in its memory is made on this machine.
    @Test func cropsThatAProgramCannotMake() {
        func window(_ change: (inout TrainingConfiguration.DataSettings) -> Void) -> CropWindow? {
            var settings = TrainingConfiguration.DataSettings()
            (settings.minimumScale, settings.flip) = (1, false)
            change(&settings)
            return Augmentation(seed: 1, epoch: 0, index: 0, settings: settings)
                .window(in: (3 * side, 3 * side), side: side)
        }
        #expect(window { _ in } != nil)
        #expect(window { $0.grayWorld = 1 } == nil, "it depends on all pixels")
        #expect(
            Augmentation.center.window(in: (5 * side, 5 * side), side: side) == nil,
            "a pixel is the sum of too many")
    }

    /// Positions beyond 2²⁴ are exact.
    @Test func positionsOfPhotosAreExact() {
        for start in [0, 1, 1 << 22, 12_345_678_901, 1 << 40 + 3] {
            let numbers = CropWindow.whole(side: 2).moved(to: start).numbers
            #expect(numbers.count == CropWindow.length(side: 2))
            #expect(Int(numbers[0]) << 22 + Int(numbers[1]) == start)
        }
    }

    /// Photos stay in memory from the step that brings them on, as long as there is space.
    @Test func photosStayInMemory() throws {
        let scratch = try TemporaryFolder()
        try scratch.addPhotos(4)
        let configuration = try scratch.configuration(
            "batch=2", "data.validation_fraction=0", "data.minimum_scale=0.4")
        let size = 40 * 48
        func batches(
            _ space: Int, _ steps: [Int], batch: Int = 2, of scratch: TemporaryFolder = scratch
        ) throws -> [Batch] {
            var configuration = configuration
            configuration.batch = batch
            configuration.data.train = scratch.path("photos")
            let photos = try PhotoFolder(configuration.data).training
            let source = try BatchSource(
                PhotoCache(photos, shortSide: 64, maximumBytes: 1 << 20),
                configuration.batchOptions, feed: StepFeed(takesPixels: true))
            let kept = KeptPhotos(in: 100..<100 + space)
            return try steps.map { try source.batch(step: $0, keeping: kept) }
        }
        func bytes(_ batch: Batch) -> [Int] { batch.uploads.map(\.pixels.count) }
        let all = try batches(4 * size, Array(0..<6))
        #expect(all.map(bytes) == [[size, size], [size, size], [], [], [], []])
        #expect(
            all.flatMap(\.uploads).map(\.start).sorted() == (0..<4).map { 100 + $0 * size })
        let twice = try batches(4 * size, [0, 1], batch: 8)
        #expect(twice.map(bytes) == [[size, size, size, size], []], "a step brings a photo once")
        let many = try TemporaryFolder()
        try many.addPhotos(18)
        let first = try batches(18 * size, [0, 1], batch: 18, of: many).map(bytes)
        #expect(first[0].count { $0 == size } == 16 && first[0].count == 18)
        #expect(first[1] == [size, size], "the rest comes with the next step")
        // Others are cropped on this machine.
        let some = try batches(3 * size - 1, Array(0..<4))
        #expect(bytes(some[0]) == [size, size] && bytes(some[1]) == [32 * 32, 32 * 32])
        #expect(some[2...].flatMap(bytes) == [32 * 32, 32 * 32])
        // An earlier step, which another thread prepares later, does not have the photo yet.
        let swapped = try batches(4 * size, [2, 3, 0, 1])
        let crops = [32 * 32, 32 * 32]
        #expect(swapped.map(bytes) == [[size, size], [size, size], crops, crops])
    }

    @Test func pixelsAreNumbersThatAreExact() {
        let pixels: [UInt8] = [0, 0, 0, 255, 255, 255, 1, 2, 3, 255, 0, 0, 0, 0, 255, 0, 254, 1]
        let packed = PackedPixels.pack([
            Image(width: 3, height: 1, pixels: Array(pixels[..<9])),
            Image(width: 1, height: 3, pixels: Array(pixels[9...])),
        ])
        #expect(packed[1] == 16_777_215 && packed[2] == 197_121)
        #expect(PackedPixels.unpack(packed) == pixels)
    }

    /// A GPU is given pixels, unless hints are drawn from the colors.
    @Test func whoIsGivenPixels() throws {
        func feed(_ settings: String...) throws -> StepFeed {
            var configuration = TrainingConfiguration()
            for setting in settings { try configuration.set(setting) }
            return configuration.feed(nil)
        }
        #expect(try !feed().takesPixels && !feed("device=reference").takesPixels)
        #expect(try feed("device=cuda").takesPixels && feed("device=cuda:1").takesPixels)
        #expect(try !feed("device=cuda", "data.hints=true").takesPixels)
        var configuration = TrainingConfiguration()
        #expect(configuration.loaderThreads(.single) == 1)
        configuration.device = .cuda(index: 1)
        #expect(configuration.loaderThreads(.single) == min(Machine.processorCount, 16))
        configuration.data.loaderThreads = 3
        #expect(configuration.loaderThreads(.single) == 3)
        let plain = try feed("device=cuda")
        #expect(plain.damageNumbers == nil && !plain.hasCopies && !plain.needsLightness)
        let compressed = try feed("device=cuda", "old_photo.jpeg=0.1")
        #expect(compressed.damageNumbers == nil && compressed.hasCopies)
        let dusty = try feed("device=cuda", "old_photo.dust=0.1", "old_photo.dust_count=7")
        #expect(dusty.damageNumbers?.specks == 7 && !dusty.hasCopies)
        let scratch = try TemporaryFolder()
        let checkpoint = "distillation.teacher=\(try scratch.makeTeacher("pico-unet"))"
        #expect(try !feed("device=cuda", checkpoint).needsLightness)
        #expect(try feed("device=cuda", "data.hints=true", checkpoint).needsLightness)
        #expect(try feed("device=cuda", "distillation.teacher=t.mlpackage").needsLightness)
    }
}
