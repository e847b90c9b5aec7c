import CRetintHDF5

@testable import RetintCheckpoints
@testable import RetintGraph
@testable import RetintTensorFiles
@testable import RetintTensors

/// HDF5 files: valid ones whose fields are changed, or any bytes.
struct HDF5Target: FuzzTarget {
    let name = "hdf5"

    func seeds() throws -> [[UInt8]] {
        let path = WorkFolder.path("seed.h5")
        try TensorFileSeeds.small.write(to: path)
        var files = [WorkFolder.read(path)]
        let checkpoint = Checkpoint(
            .named("pico-unet", .init(width: 0.5)), state: TensorFileSeeds.small,
            optimizer: TensorFileSeeds.optimizer, training: "{\"step\": 1}")
        try checkpoint.write(to: path)
        files.append(WorkFolder.read(path))
        return files
    }

    /// What libhdf5 itself loses of damaged files is not retint's; what retint opens it closes.
    func run(_ input: [UInt8]) throws {
        let before = Self.openObjects
        defer { precondition(Self.openObjects == before, "an object of libhdf5 stays open") }
        let path = WorkFolder.write(input, to: "file.h5")
        try read(path)
    }

    private static var openObjects: [Int64] {
        [H5I_FILE, H5I_GROUP, H5I_DATASPACE, H5I_DATASET, H5I_ATTR].map { type in
            var count: hsize_t = 0
            H5Inmembers(type, &count)
            return Int64(count)
        }
    }

    private func read(_ path: String) throws {
        try TensorFileRun.read(path)
        let reader = try HDF5Reader(path: path, limits: TensorFileRun.limits)
        for name in try reader.datasetNames() {
            _ = try reader.attributes(of: name)
            _ = try reader.storedType(of: name)
        }
        _ = try Checkpoint(contentsOf: path)
    }

    /// Sizes, offsets and types of HDF5 are numbers of 1 to 8 bytes at their own multiples.
    func mutated(
        _ input: [UInt8], limit: Int, seed: UInt32, change: ([UInt8], Int) -> [UInt8]
    ) -> [UInt8]? {
        guard input.count >= 16, seed & 3 != 0 else { return nil }
        var random = SplitMix(seed: seed)
        var result = input
        for _ in 0...random.below(3) {
            let width = [1, 1, 2, 4, 8][random.below(5)]
            let offset = random.below(input.count / width) * width
            let old = (0..<width).reduce(UInt64(0)) { $0 | UInt64(result[offset + $1]) << ($1 * 8) }
            let new = random.number(near: old, fileBytes: input.count)
            for index in 0..<width {
                result[offset + index] = UInt8(truncatingIfNeeded: new >> (index * 8))
            }
        }
        return result
    }
}

/// safetensors files: the first byte says whether the length of the header is made to fit.
struct SafetensorsTarget: FuzzTarget {
    let name = "safetensors"

    func seeds() throws -> [[UInt8]] {
        let path = WorkFolder.path("seed.safetensors")
        try TensorFileSeeds.small.write(to: path)
        let file = WorkFolder.read(path)
        let length = Int(file[0]) | Int(file[1]) << 8
        let parts = Parts([Array(file[8..<8 + length]), Array(file[(8 + length)...])])
        return [[0] + parts.bytes, [255] + file]
    }

    func run(_ input: [UInt8]) throws {
        let path = WorkFolder.write(Self.file(input), to: "file.safetensors")
        try TensorFileRun.read(path)
        _ = try SafetensorsReader(path: path).metadata
        _ = try Checkpoint.importing(
            weights: path, of: .named("pico-unet"), isStrict: false)
    }

    private static func file(_ input: [UInt8]) -> [UInt8] {
        guard let mode = input.first, mode < 224 else { return Array(input.dropFirst()) }
        let parts = Parts(Array(input.dropFirst()), count: 2)
        let length = (0..<8).map { UInt8(truncatingIfNeeded: parts.files[0].count >> ($0 * 8)) }
        return length + parts.files[0] + parts.files[1]
    }

    func mutated(
        _ input: [UInt8], limit: Int, seed: UInt32, change: ([UInt8], Int) -> [UInt8]
    ) -> [UInt8]? {
        Parts.mutatedAfterMode(input, limit: limit, seed: seed, change: change)
    }
}

enum TensorFileRun {
    static let limits = TensorFileLimits(totalBytes: 64 << 20)

    /// Reads all tensors, and those that a network expects.
    static func read(_ path: String) throws {
        let reader = try openTensorFile(path, limits: limits)
        for name in try reader.tensorNames() { _ = try reader.shape(of: name) }
        let tensors = try StateDict(contentsOf: path, limits: limits)
        _ = try StateDict(contentsOf: path, limits: limits, expecting: ["weight": [2, 3]])
        _ = tensors.compare(expected: [("weight", [2, 3])])
    }
}

private enum TensorFileSeeds {
    static var small: StateDict {
        var tensors = StateDict()
        tensors["weight"] = StoredTensor(
            TensorData(shape: [2, 3], scalars: [1, 2, 3, 4, 5, 6]))
        tensors["bias"] = StoredTensor(TensorData(scalar: 0.5))
        tensors["num_batches_tracked"] = StoredTensor(integer: 7)
        return tensors
    }

    static var optimizer: StateDict {
        var tensors = StateDict()
        tensors["optimizer.exp_avg.weight"] = StoredTensor(
            TensorData(shape: [2, 3], repeating: 1))
        return tensors
    }
}

/// Sebastiano Vigna's SplitMix64.
private struct SplitMix {
    private var state: UInt64

    init(seed: UInt32) { state = UInt64(seed) }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }

    /// A number that a check may not expect in place of `old`.
    mutating func number(near old: UInt64, fileBytes: Int) -> UInt64 {
        let candidates: [UInt64] = [
            0, 1, 2, 3, 8, .max, .max - 1, 1 << 63, 1 << 62, 1 << 40, 1 << 32, 1 << 31,
            (1 << 31) - 1, 1 << 16, 255, 128, old &+ 1, old &- 1, old << 1, old >> 1, ~old,
            UInt64(fileBytes), UInt64(below(fileBytes)), old ^ 1 << UInt64(below(64)),
        ]
        return candidates[below(candidates.count)]
    }
}
