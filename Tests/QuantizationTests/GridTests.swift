import Foundation
import RetintEngine
import RetintGraph
import RetintMLPackage
import RetintTensors
import RetintTestSupport
import Testing

@testable import RetintQuantization

/// Compares codes, scales and tables with those of coremltools, recorded by
/// `Goldens/record_quantization.py`.
@Suite struct GridTests {
    struct Affine: Decodable {
        let weights: String
        let bits: Int
        let signed: Bool
        let mode: String
        let blocks: [Int]
        let scales: [Double]
        let zeroPoints: [Int32]?
        let firstCodes: [Int32]
        let checksum: Int
    }

    struct Uniform: Decodable {
        let bits: Int
        let table: [Float]
    }

    struct KMeans: Decodable {
        let weights: String
        let bits: Int
        let squaredError: Double
    }

    struct PrunedWeight: Decodable {
        let zeros: Int
        let of: Int
        let axis: Int
        let first: [Int]
        let count: Int
        let checksum: Int
    }

    private struct Goldens: Decodable {
        let pruning: [PrunedWeight]
        let affine: [Affine]
        let uniform: [Uniform]
        let kmeans: [KMeans]
    }

    private let goldens: Goldens
    private let shape = [12, 64, 3, 3]

    init() throws {
        goldens = try decodeGolden("quantization.json", keys: .convertFromSnakeCase)
    }

    private func values(_ kind: String) -> [Float] {
        let plain = pseudorandomValues(Shape(shape)).scalars
        return kind == "skewed" ? plain.map { $0 * $0 * $0 + 0.25 } : plain
    }

    @Test func integersMatchCoremltools() throws {
        #expect(goldens.affine.count == 64)
        for golden in goldens.affine {
            let blocks = WeightBlocks(
                shape: shape, groups: zip(shape, golden.blocks).map { $1 == 0 ? 1 : $0 / $1 })
            let kind = (golden.signed ? "int" : "uint") + "\(golden.bits)"
            let grid = AffineGrid(
                values(golden.weights), blocks,
                as: try #require(QuantizationScheme.Weights(kind)).dataType,
                mode: golden.mode == "LINEAR" ? .linear : .symmetric, precision: .float32)
            let comment: Comment = "\(golden)"
            #expect(grid.scales.map(Double.init) == golden.scales, comment)
            #expect(grid.zeroPoints == golden.zeroPoints, comment)
            let codes = grid.codes(values(golden.weights))
            #expect(Array(codes.prefix(48)) == golden.firstCodes, comment)
            let checksum = codes.enumerated().reduce(0) {
                $0 + Int($1.element) * ($1.offset % 1009 + 1)
            }
            #expect(checksum == golden.checksum, comment)
        }
    }

    /// Fake quantization in training gives the same values as the exported package, bit for bit.
    @Test(arguments: [("int8", 8, 0), ("int4", 4, 0), ("int8", 8, 1), ("int4", 4, 1)])
    func trainingRoundsLikePackages(_ kind: String, _ bits: Int, _ axis: Int) throws {
        let weights = values("skewed")
        var groups = [1, 1, 1, 1]
        groups[axis] = shape[axis]
        let grid = AffineGrid(
            weights, WeightBlocks(shape: shape, groups: groups),
            as: try #require(QuantizationScheme.Weights(kind)).dataType, mode: .symmetric,
            precision: .float32)
        let graph = Graph()
        let weight = graph.variable("w", Shape(shape), role: .parameter)
        let rounded = try weight.fakeQuantized(bits: bits, axis: axis).evaluate(
            variables: ["w": TensorData(shape: Shape(shape), scalars: weights)])
        #expect(rounded.scalars == grid.values(grid.codes(weights)))
    }

    /// Blocks of channels with a sparsity of 0.5, and n:m sparsity.
    @Test func pruningMatchesCoremltools() throws {
        #expect(goldens.pruning.count == 8)
        let scores = values("skewed").map { $0 * $0 }
        for golden in goldens.pruning {
            var scheme = QuantizationScheme(.unchanged)
            scheme.chosenPruningAxis = golden.axis == 0 ? .output : .input
            if golden.zeros > 0 {
                scheme.pruning = .ratio(zeros: golden.zeros, of: golden.of)
            } else {
                (scheme.pruning, scheme.sparsity) = (.blocks(of: golden.of), 0.5)
            }
            let kept = Pruning(shape: shape, axes: (0, 1), scores: scores).kept(scheme)
            let comment: Comment = "\(golden)"
            #expect(kept.prefix(64).map { $0 ? 1 : 0 } == golden.first, comment)
            #expect(kept.count { $0 } == golden.count, comment)
            let checksum = kept.enumerated().reduce(0) {
                $0 + ($1.element ? $1.offset % 1009 + 1 : 0)
            }
            #expect(checksum == golden.checksum, comment)
        }
    }

    @Test func uniformTablesMatchCoremltools() throws {
        #expect(goldens.uniform.count == 6)
        for golden in goldens.uniform {
            let palette = palette("plain", golden.bits, .uniform)
            #expect(palette.tables.count == golden.table.count)
            for (mine, other) in zip(palette.tables, golden.table) {
                #expect(abs(mine - other) <= 2e-7)
            }
        }
    }

    /// The squared error is the minimum, within float32 precision.
    @Test func kmeansTablesAreOptimal() throws {
        #expect(goldens.kmeans.count == 12)
        for golden in goldens.kmeans {
            let grid = palette(golden.weights, golden.bits, .kmeans)
            let found = grid.values(grid.codes(values(golden.weights)))
            let error = zip(values(golden.weights), found).reduce(0) {
                $0 + Double($1.0 - $1.1) * Double($1.0 - $1.1)
            }
            #expect(error <= golden.squaredError * (1 + 1e-5) + 1e-9, "\(golden): \(error)")
        }
    }

    /// Pruned elements do not count.
    @Test(arguments: QuantizationScheme.PaletteMode.allCases)
    func tablesAreForTheKeptElements(mode: QuantizationScheme.PaletteMode) {
        func tables(_ values: [Float], _ shape: [Int], _ kept: [Bool]? = nil) -> [Float] {
            PaletteGrid(
                values, WeightBlocks(shape: shape, groups: [1, 1, 1, 1]), bits: 3, mode: mode,
                precision: .float32, kept: kept
            ).tables
        }
        let values = values("skewed")
        let bound = values.map(abs).sorted()[values.count / 2]
        let kept = values.map { abs($0) <= bound }
        let alone = zip(values, kept).filter(\.1).map(\.0)
        let found = tables(values, shape, kept)
        #expect(found == tables(alone, [alone.count, 1, 1, 1]))
        #expect(found != tables(values, shape))
        #expect(
            tables(values, shape, kept.map { _ in false }) == [Float](repeating: 0, count: 8))
    }

    private func palette(
        _ kind: String, _ bits: Int, _ mode: QuantizationScheme.PaletteMode
    ) -> PaletteGrid {
        PaletteGrid(
            values(kind), WeightBlocks(shape: shape, groups: [1, 1, 1, 1]), bits: bits, mode: mode,
            precision: .float32)
    }

    /// Preserving channel means costs hardly any squared error.
    @Test(arguments: [(2, 0), (4, 0), (4, 1), (6, 0)])
    func channelsKeepTheirMeans(_ bits: Int, _ axis: Int) {
        let values = values("skewed")
        let grid = palette("skewed", bits, .kmeans)
        let plain = grid.values(grid.codes(values))
        let kept = grid.values(MeanPreservation(grid: grid, axis: axis).codes(values))
        let inner = shape[(axis + 1)...].reduce(1, *)
        func offsets(_ rounded: [Float]) -> [Float] {
            var sums = [Float](repeating: 0, count: shape[axis])
            for index in values.indices {
                sums[index / inner % shape[axis]] += rounded[index] - values[index]
            }
            return sums.map(abs)
        }
        func squaredError(_ rounded: [Float]) -> Float {
            zip(rounded, values).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        }
        let (before, after) = (offsets(plain), offsets(kept))
        #expect(zip(after, before).allSatisfy { $0 <= $1 })
        #expect(after.reduce(0, +) < 0.4 * before.reduce(0, +))
        #expect(squaredError(kept) < 1.05 * squaredError(plain))
    }

    /// More distinct values than are clustered exactly, so that a histogram is used.
    @Test func tablesOfManyValuesAreNearlyOptimal() {
        var state: UInt64 = 1
        let values = (0..<60_000).map { _ -> Float in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let unit = Float(state >> 40) / Float(1 << 24)
            return unit * unit * unit
        }
        let centers = OptimalClusters(values).centers(16)
        #expect(centers == centers.sorted() && Set(centers).count == 16)
        // A fixed point of k-means: each center is the mean of the values nearest to it.
        let nearest = Dictionary(grouping: values) { value in
            centers.indices.min { abs(centers[$0] - value) < abs(centers[$1] - value) } ?? 0
        }
        for (index, members) in nearest {
            let mean = members.reduce(0) { $0 + Double($1) } / Double(members.count)
            #expect(abs(mean - Double(centers[index])) < 2e-4)
        }
    }
}
