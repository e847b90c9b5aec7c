import ArgumentParser
import Retint

/// The output format of `export`, selected by the extension of the output's name.
enum ExportFormat: CaseIterable {
    case package, aiModel, onnx, weights

    /// To add a format, add a row.
    private var row: (title: String, extensions: [String], options: Set<ExportOptionGroup>) {
        switch self {
        case .package:
            (
                "Core ML", ["mlpackage"],
                ExportOptionGroup.ofNetworks.union([.target, .rewriting])
            )
        case .aiModel: ("Core AI", ["aimodel"], ExportOptionGroup.ofNetworks)
        case .onnx: ("ONNX", ["onnx"], ExportOptionGroup.ofNetworks.union([.onnx]))
        case .weights: ("PyTorch weights", Self.weightExtensions, [.foldedWeights])
        }
    }

    private static let weightExtensions = TensorFileFormat.allCases
        .filter(\.isWritable).flatMap(\.extensions)

    /// - Throws: a usage error if no format has the extension of `output`.
    init(output: String) throws {
        let isWeights = TensorFileFormat(extensionOf: output)?.isWritable == true
        let format = Self.allCases.first { format in
            format.row.extensions.contains { output.hasSuffix("." + $0) }
                || format == .weights && isWeights
        }
        guard let format else {
            let known = Self.allCases.map(\.description).joined(separator: ", ")
            throw ValidationError("\(output): unknown extension; known are \(known)")
        }
        self = format
    }

    /// Refuses options that have no effect for this format.
    ///
    /// - Parameter options: the names of the options that were given, by group.
    func check(_ options: [ExportOptionGroup: [String]]) throws {
        for (group, names) in options.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where !row.options.contains(group) {
            guard let name = names.first else { continue }
            let others = Self.allCases.filter { $0.row.options.contains(group) }
            throw ValidationError(
                "\(name) has no meaning for \(description); it is for "
                    + others.map(\.description).joined(separator: " and "))
        }
    }
}

extension ExportFormat: CustomStringConvertible {
    /// For messages: `Core ML (.mlpackage)`.
    var description: String {
        "\(row.title) (\(row.extensions.map { "." + $0 }.joined(separator: ", ")))"
    }
}

/// Options of `export` that belong together: a format takes all or none of a group.
enum ExportOptionGroup: Int, CaseIterable {
    case target, rewriting, precision, sizes, interface, folding, metadata, onnx, foldedWeights

    /// The options for converting a network.
    static let ofNetworks: Set<Self> = [.precision, .sizes, .interface, .folding, .metadata]
}

/// The names of those options that were given.
func given(_ options: KeyValuePairs<String, Bool>) -> [String] {
    options.filter(\.value).map(\.key)
}
