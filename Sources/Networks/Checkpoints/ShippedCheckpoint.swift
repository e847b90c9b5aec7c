import Foundation
import RetintFiles

/// A trained colorizer that comes with retint.
///
/// ```swift
/// let model = try Model(contentsOf: ShippedCheckpoint.path(of: "lite-class-unet"))
/// ```
public struct ShippedCheckpoint: Hashable, Sendable {
    /// Such as `lite-class-unet`.
    public let name: String
    /// The path of its file.
    public let path: String
    /// The first paragraph of its card, the file of the same name that describes it; nil without
    /// a card.
    public var summary: String? {
        let card = (path as NSString).deletingPathExtension + ".md"
        guard let text = try? String(contentsOfFile: card, encoding: .utf8) else { return nil }
        let paragraphs = text.split(separator: "\n\n").drop { $0.hasPrefix("#") }
        return paragraphs.first.map {
            String($0).replacing("\n", with: " ").replacing("`", with: "")
        }
    }

    /// The colorizer that commands take if none is named.
    public static let standard = "lite-class-unet"

    /// The environment variable that names the only folder to look in.
    public static let variable = "RETINT_CHECKPOINTS"

    /// All that are found, in the order of their names. They are in `share/retint/checkpoints` of
    /// an installation, in the Python package `retint_checkpoints` beside that of the program, or
    /// in `Checkpoints` of a checkout that the program was built in.
    public static var all: [ShippedCheckpoint] {
        all(ProcessInfo.processInfo.environment, program: ProgramFile.own?.string ?? "/")
    }

    /// The path of a model: that of the trained colorizer of this name if nothing is at the path,
    /// and otherwise the path itself.
    public static func path(of model: String) -> String {
        guard !model.contains("/"),
            (try? FileKind(at: model, followingLinks: false)) ?? .nothing == .nothing
        else { return model }
        return all.first { $0.name == model }?.path ?? model
    }

    static func all(_ environment: [String: String], program: String) -> [ShippedCheckpoint] {
        let found = folders(environment, program: program).lazy.map(checkpoints)
        return found.first { !$0.isEmpty } ?? []
    }

    private static func checkpoints(in folder: String) -> [ShippedCheckpoint] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter(ModelFormat.checkpoint.isExtension).map {
            ShippedCheckpoint(name: $0.filePath.stem ?? $0, path: "\(folder)/\($0)")
        }.sorted { $0.name < $1.name }
    }

    private static func folders(_ environment: [String: String], program: String) -> [String] {
        if let folder = environment[variable], !folder.isEmpty { return [folder] }
        let parts = program.split(separator: "/").map(String.init)
        // Programs are in `bin`, the library of all of retint is in `lib/retint`.
        var folders = (2...4).prefix { $0 <= parts.count }.flatMap { depth in
            let above = parts.dropLast(depth)
            return [above + ["share", "retint", "checkpoints"], above + ["retint_checkpoints"]]
        }
        if let build = parts.firstIndex(where: { $0.hasPrefix(".build") }) {
            folders.append(parts[..<build] + ["Checkpoints"])
        }
        return folders.map { "/" + $0.joined(separator: "/") }
    }
}
