import ColorScience
import MIL
import MLPackage
import Models
import TensorGraph

/// Measures how far the colors of photos move when weights of a package change.
final class ColorProbe {
    private let program: ModelProgram
    private let variables: [String: TensorData]
    private let photos: [TensorData]
    private var expected: [LabPlanes] = []

    /// - Parameter photos: lightness [1, 1, H, W] in 0…100, of the size that the package takes.
    /// - Throws: `ConversionError` without photos; `ModelError` if the package is no colorizer.
    init(_ package: MLPackage, photos: [TensorData]) throws {
        guard !photos.isEmpty else {
            throw ConversionError(
                place: "photos", rule: "colors are compared on photos, and none are given",
                remedy: "Pass at least one photo.")
        }
        let graph = try Model(package).colorizerGraph()
        variables = graph.variables
        self.photos = photos
        program = try ModelProgram(graph)
        expected = try photos.map(colors)
    }

    private func colors(of lightness: TensorData) throws -> LabPlanes {
        LabPlanes(lightness, ab: try program.predictUnrounded(lightness))
    }

    /// How far colors move when weights become `weights`.
    ///
    /// - Parameter count: the number of photos to compare, from the first.
    func change(to weights: [String: [Float]], onFirst count: Int) throws -> ColorChange {
        var changed: [String: TensorData] = [:]
        for (name, values) in weights {
            guard let old = variables[name] else { continue }
            changed[name] = TensorData(shape: old.shape, scalars: values)
        }
        try program.load(changed)
        defer { try? program.load(variables.filter { changed[$0.key] != nil }) }
        return try ColorChange(
            from: Array(expected.prefix(count)), to: photos.prefix(count).map(colors))
    }

    /// How far the colors of another package are from those of the unchanged one.
    func change(to package: MLPackage) throws -> ColorChange {
        try ColorChange(from: expected, to: ColorProbe(package, photos: photos).expected)
    }
}

/// The difference between the colors of two packages, over photos.
public struct ColorChange: Hashable, Sendable, Encodable {
    /// The mean CIEDE2000 difference over all pixels.
    public let deltaE2000: Double
    /// PSNR of a and b in dB, peak 220; nil if they are equal.
    public let psnrDb: Double?

    /// - Precondition: the images have one size.
    init(from expected: [LabPlanes], to computed: [LabPlanes]) throws {
        deltaE2000 =
            try zip(expected, computed).reduce(0) { $0 + (try meanDeltaE2000($1.0, $1.1)) }
            / Double(expected.count)
        let ratio = try psnr(
            expected.flatMap { $0.a + $0.b }, computed.flatMap { $0.a + $0.b }, peak: 220)
        psnrDb = ratio.isFinite ? ratio : nil
    }
}
