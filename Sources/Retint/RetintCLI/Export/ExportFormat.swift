import ArgumentParser
import Retint

extension ModelFormat {
    /// The format that `export` writes, by the extension of the output's name.
    ///
    /// - Throws: a usage error if no format has it.
    init(ofExport output: String) throws {
        guard let format = ModelFormat(ofOutput: output) else {
            let known = Self.titles(Self.formats(for: .exporting)).joined(separator: ", ")
            throw ValidationError(
                "\(output): unknown extension; known are \(known). PyTorch loads .safetensors "
                    + "(safetensors.torch.load_file)")
        }
        self = format
    }

    /// Refuses options that have no effect for this format.
    ///
    /// - Parameter given: the names of the options that were given, by group.
    func check(_ given: [ModelExportOption: [String]]) throws {
        for (group, names) in given.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where !options.contains(group) {
            guard let name = names.first else { continue }
            let others = Self.formats(for: .exporting).filter { $0.options.contains(group) }
            throw ValidationError(
                "\(name) has no effect for \(description); it is for "
                    + Self.titles(others).joined(separator: " and "))
        }
    }

    /// For help texts: `a package (.mlpackage), ONNX (.onnx), or weights (.h5, .safetensors)`.
    static func choice(_ use: Use) -> String {
        let nouns = nouns(formats(for: use))
        guard nouns.count > 2 else { return nouns.joined(separator: " or ") }
        return nouns.dropLast().joined(separator: ", ") + ", or " + nouns[nouns.count - 1]
    }
}

extension WrittenModel.Fact: CustomStringConvertible {
    /// As a table or a line shows it.
    public var description: String {
        switch self {
        case .text(let text): text
        case .count(let count, let things): "\(Format.grouped(count)) \(things)"
        case .bytes(let bytes): Format.bytes(bytes)
        }
    }
}

/// The names of those options that were given.
func given(_ options: KeyValuePairs<String, Bool>) -> [String] {
    options.filter(\.value).map(\.key)
}
