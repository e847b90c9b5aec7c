import Foundation
import RetintFiles

/// `Manifest.json`: the files of a package and which of them is the model.
struct Manifest: Codable {
    var fileFormatVersion: String
    var itemInfoEntries: [String: Item]
    var rootModelIdentifier: String

    struct Item: Codable {
        var author: String
        var description: String
        var name: String
        /// The path below `Data`, separated by `/`.
        var path: String
    }

    static let fileName = "Manifest.json"
    static let author = "com.apple.CoreML"
    private static let formatVersion = "1.0.0"
    private static let maximumSize = 1 << 20

    /// The manifest of a package written by retint.
    init(modelIdentifier: String, weightsIdentifier: String?) {
        let model = Item("model.mlmodel", "CoreML Model Specification")
        let weights = Item("weights", "CoreML Model Weights")
        fileFormatVersion = Self.formatVersion
        rootModelIdentifier = modelIdentifier
        itemInfoEntries = [modelIdentifier: model]
        if let weightsIdentifier { itemInfoEntries[weightsIdentifier] = weights }
    }

    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }

    /// Reads and checks the manifest of the package at `package`.
    init(package: String) throws {
        let path = package + "/" + Self.fileName
        try require(
            try FileKind(at: path) != .nothing, Self.fileName,
            "it is missing, so this folder is not a Core ML package",
            "Give the folder whose name ends in .mlpackage; of a training run, give its best.h5.")
        let bytes = try readPlainFile(path, maximumBytes: Self.maximumSize)
        do {
            self = try JSONDecoder().decode(Manifest.self, from: Data(bytes))
        } catch let error as DecodingError {
            throw BrokenRule(Self.fileName, error.rule)
        }
        try at(Self.fileName) { try check() }
    }

    /// The path of the model file below `Data`.
    var modelPath: String { itemInfoEntries[rootModelIdentifier]?.path ?? "" }

    /// Whether an item is the file at `path` or a folder that contains it.
    func covers(_ path: String) -> Bool {
        itemInfoEntries.values.contains {
            $0.path == path || path.utf8.starts(with: ($0.path + "/").utf8)
        }
    }

    private func check() throws {
        try require(
            fileFormatVersion == Self.formatVersion, "fileFormatVersion",
            "it has to be \(Self.formatVersion), not \"\(fileFormatVersion)\"",
            "The package was written for another version of the format: export it again.")
        for (identifier, item) in itemInfoEntries.sorted(by: { $0.key < $1.key }) {
            try at("item \(identifier), path \"\(item.path)\"") { try PackagePath.check(item.path) }
        }
        try require(
            itemInfoEntries[rootModelIdentifier] != nil, "rootModelIdentifier",
            "it has to name one of the items")
    }
}

extension DecodingError {
    /// Which rule JSON of a file breaks, in words.
    var rule: String {
        switch self {
        case .keyNotFound(let key, let context):
            "\(Self.path(context.codingPath + [key])) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(Self.path(context.codingPath)) has the wrong type"
        default: "it is not valid JSON"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.isEmpty ? "the whole" : keys.map(\.stringValue).joined(separator: ".")
    }
}

extension Manifest.Item {
    init(_ name: String, _ description: String) {
        author = Manifest.author
        self.name = name
        self.description = description
        path = author + "/" + name
    }
}

/// Paths stated in a package, which must not lead out of it.
enum PackagePath {
    /// Checks that a path is relative and has no "..".
    static func check(_ path: String) throws {
        guard let flaw = RelativePath.flaw(in: path) else { return }
        throw BrokenRule("", flaw, "Do not use this package; get it from its author again.")
    }

    /// Checks that no component of `path` below `root` is a symbolic link.
    static func checkLinks(root: String, path: String) throws {
        guard let (place, kind) = try RelativePath.obstacle(in: path, below: root) else { return }
        throw BrokenRule(
            place, kind == .link ? "links are not followed inside a package" : "it does not exist")
    }
}
