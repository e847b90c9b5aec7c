import Foundation
import RetintFiles
import RetintMLPackage
import SystemPackage

/// The names and the small files of an `.aimodel` folder.
enum AIModelFolder {
    static let fileExtension = "aimodel"
    static let program = "main.mlirb"
    /// 32 bytes: the SHA-256 of the program.
    static let hash = "main.hash"
    static let metadata = "metadata.json"

    /// The only allowed contents of such a folder, so that one with anything else is not replaced.
    static let content = FolderContent(marker: program) { path in
        [program, hash, metadata, ".DS_Store"].contains(path)
    }
}

/// `metadata.json`.
struct AssetMetadata: Codable {
    var assetVersion: String
    var producer: String?
    var author: String?
    var license: String?
    var description: String?
    var creatorDefinedMetadata: [String: Value]?

    static let version = "2.0"
    private static let maximumBytes = 1 << 20
    /// The key of the model's version, which has no field.
    private static let modelVersionKey = "retint.model_version"

    /// A value that the author defined; only texts, numbers and bools are kept.
    enum Value: Codable {
        case text(String)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let flag = try? container.decode(Bool.self) {
                self = .text("\(flag)")
            } else if let number = try? container.decode(Double.self) {
                self = .text("\(number)")
            } else {
                self = .other
            }
        }

        func encode(to encoder: any Encoder) throws {
            guard case .text(let text) = self else { return }
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    /// - Parameter ignoredKeys: the keys of user-defined texts that are omitted.
    init(_ metadata: ModelMetadata, producer: String, ignoredKeys: Set<String>) {
        assetVersion = Self.version
        self.producer = producer
        author = metadata.author.isEmpty ? nil : metadata.author
        license = metadata.license.isEmpty ? nil : metadata.license
        description = metadata.shortDescription.isEmpty ? nil : metadata.shortDescription
        var texts = metadata.userDefined.filter { !ignoredKeys.contains($0.key) }
        if !metadata.version.isEmpty { texts[Self.modelVersionKey] = metadata.version }
        creatorDefinedMetadata = texts.isEmpty ? nil : texts.mapValues { .text($0) }
    }

    /// Equal metadata give equal bytes.
    func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + Array("\n".utf8)
    }

    init(contentsOf path: FilePath) throws {
        let file = try RegularFile(path, followingLinks: false)
        let bytes = try file.contents(maximumBytes: Self.maximumBytes)
        do {
            self = try JSONDecoder().decode(AssetMetadata.self, from: Data(bytes))
        } catch {
            throw MLPackageError(
                file: path.string, place: "", rule: "it is not the metadata of an .aimodel",
                remedy: "The file is damaged: export or copy the model again.")
        }
        guard assetVersion == Self.version else {
            throw MLPackageError(
                file: path.string, place: "assetVersion",
                rule: "\(assetVersion) is not supported; \(Self.version) is",
                remedy: "Export the model again for that version.")
        }
    }

    var modelMetadata: ModelMetadata {
        var metadata = ModelMetadata()
        metadata.author = author ?? ""
        metadata.license = license ?? ""
        metadata.shortDescription = description ?? ""
        for case (let key, .text(let text)) in creatorDefinedMetadata ?? [:] {
            metadata.userDefined[key] = text
        }
        metadata.version = metadata.userDefined.removeValue(forKey: Self.modelVersionKey) ?? ""
        return metadata
    }
}
