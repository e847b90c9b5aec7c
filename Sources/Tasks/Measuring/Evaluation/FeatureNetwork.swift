import RetintArchitectures
import RetintCheckpoints
import RetintEngine
import RetintFiles
import RetintGraph
import RetintImages
import RetintLayers
import RetintLocks
import RetintRuntime
import RetintTensorFiles
import RetintTensors

/// A pretrained EfficientNet-Lite whose features describe what is in a photo and which colors it
/// has, for ``EvaluationReport/ColorQuality/frechetDistance``.
public struct FeatureNetwork: Sendable {
    /// The variant: `EfficientNet-Lite0`.
    public let name: String
    private let path: String
    private let width, depth: Double
    private let weights: [String: TensorData]

    /// The side in pixels to which photos are resized, whatever their own size.
    private static let side = 256

    /// Reads weights for red, green and blue, with the names of timm's `tf_efficientnet_lite0` …
    /// `lite4`, also below `encoder`; other tensors are ignored.
    /// `Scripts/recipes/pretrained_encoder.py --colors` writes such a file.
    ///
    /// - Parameter path: an HDF5, safetensors or PyTorch file.
    /// - Throws: `TensorFileError` if the file cannot be read or lacks some of these tensors.
    public init(contentsOf path: some PathConvertible) throws {
        let path = path.filePath.string
        let state = try StateDict(contentsOf: path).prefixed(PooledEfficientNetLite.prefix)
        // A deeper variant also has the blocks of a shallower one.
        for number in PooledEfficientNetLite.variants.indices.reversed() {
            let variant = PooledEfficientNetLite.variants[number]
            let network = PooledEfficientNetLite(width: variant.width, depth: variant.depth)
            let report = state.compare(expected: network.tensorShapes)
            guard !report.missing.isEmpty || !report.misshaped.isEmpty else {
                (width, depth) = variant
                (name, self.path) = ("EfficientNet-Lite\(number)", path)
                weights = try state.values(of: network, path: path)
                return
            }
            if number == 0 { throw Self.mismatch(report, path) }
        }
        preconditionFailure("there are no variants")
    }

    private static func mismatch(_ report: LoadReport, _ path: String) -> TensorFileError {
        let differences = report.missing.map(\.name) + report.misshaped.map(\.name)
        return TensorFileError(
            .mismatch, path: path,
            "lacks the tensors of EfficientNet-Lite0 to 4 for red, green and blue: of Lite0's, "
                + "\(report.missing.count) are missing and \(report.misshaped.count) have other "
                + "shapes, the first \(differences[0]); Scripts/recipes/pretrained_encoder.py "
                + "--colors writes such a file")
    }

    /// Compiles the network for a few photos at a time.
    func program(threads: Int?) throws -> FeatureProgram {
        try FeatureProgram(
            PooledEfficientNetLite(width: width, depth: depth), weights, name: name, path: path,
            side: Self.side, threads: threads)
    }
}

extension PooledEfficientNetLite {
    fileprivate var tensorShapes: [(name: String, shape: Shape)] {
        StateSpec(of: self).tensors.map { ($0.name, $0.shape) }
    }
}

extension StateDict {
    /// The tensors, all of whose names have this prefix.
    fileprivate func prefixed(_ prefix: String) -> StateDict {
        var result = StateDict()
        for (name, tensor) in self {
            result[name.hasPrefix(prefix) ? name : prefix + name] = tensor
        }
        return result
    }

    /// A network's variables, which must have the right shapes.
    fileprivate func values(
        of network: PooledEfficientNetLite, path: String
    ) throws(TensorFileError) -> [String: TensorData] {
        var values: [String: TensorData] = [:]
        for (name, _) in network.tensorShapes {
            guard let data = self[name]?.tensorData, data.scalars.allSatisfy(\.isFinite) else {
                throw TensorFileError(
                    .mismatch, path: path, place: name,
                    "contains values that are not finite floats; convert the file again")
            }
            values[name] = data
        }
        return values
    }
}

/// A feature network compiled for the images of one photo at a time. Several threads may use it:
/// they wait for each other.
final class FeatureProgram {
    let name: String
    private let path: String
    private let side: Int
    private let program: Program
    private let lock = Mutex(())
    /// The photo itself, colored, gray and in the mean color.
    private static let batch = 4

    fileprivate init(
        _ network: PooledEfficientNetLite, _ weights: [String: TensorData], name: String,
        path: String, side: Int, threads: Int?
    ) throws {
        let graph = Graph()
        let photos = graph.input("photos", [Self.batch, 3, side, side])
        program = try Program(
            outputs: [("features", network(photos))], options: CompileOptions(threads: threads))
        try program.load(weights)
        (self.name, self.path, self.side) = (name, path, side)
    }

    /// The features of each of four images.
    ///
    /// - Throws: `ModelError` if they are not finite.
    func features(of images: [Image]) throws -> [[Double]] {
        precondition(images.count == Self.batch)
        let planes = images.flatMap { $0.resized(to: side, height: side).planes }
        let input = TensorData(shape: [images.count, 3, side, side], scalars: planes)
        let output = try lock.withLock { _ in
            try program.run(["photos": input])["features"]?.scalars ?? []
        }
        guard !output.isEmpty, output.allSatisfy(\.isFinite) else {
            throw ModelError(
                .nonFinite, path, "computes features that are not finite; use trained weights")
        }
        let count = output.count / images.count
        return images.indices.map { image in
            output[image * count..<(image + 1) * count].map(Double.init)
        }
    }
}

extension Image {
    /// The values of red, then green, then blue, 0…255.
    fileprivate var planes: [Float] {
        (0..<3).flatMap { channel in
            stride(from: channel, to: pixels.count, by: 3).map { Float(pixels[$0]) }
        }
    }
}
