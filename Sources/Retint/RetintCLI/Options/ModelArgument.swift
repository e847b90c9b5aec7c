import ArgumentParser
import Foundation
import Retint

/// The path of a model that was named by its path, or by the name of a trained colorizer.
///
/// - Throws: `ValidationError` if it is neither, but similar to such a name, or the name of the
///   standard one, and there are none.
@Sendable func modelPath(_ model: String) throws -> String {
    let path = ShippedCheckpoint.path(of: model)
    guard path == model, !model.contains("/"), !FileManager.default.fileExists(atPath: model) else {
        return path
    }
    let names = ShippedCheckpoint.all.map(\.name)
    if names.isEmpty, model == ShippedCheckpoint.standard {
        throw ValidationError("\(model): \(ShippedCheckpoint.absence)")
    }
    let similar =
        Spelling.similar(to: model, among: names).first
        ?? (model.count > 3 ? names.first { $0.hasPrefix(model) } : nil)
    guard let similar else { return path }
    throw ValidationError(
        "\(model): there is no such file, and no trained colorizer of this name; did you mean "
            + "\(similar)?")
}

/// Refuses a model that was named after the photos or the video.
///
/// - Parameter arguments: all arguments that are not options.
/// - Throws: `ValidationError` if a model is among them, but not the first.
func checkModelComesFirst(_ arguments: [String], _ command: String) throws {
    let checkpoint = (arguments.first ?? "") + "/best.h5"
    guard arguments.count == 1 || !FileManager.default.fileExists(atPath: checkpoint) else {
        throw ValidationError(
            "\(arguments[0]) is the folder of a training run; give its model: retint \(command) "
                + ([checkpoint] + arguments.dropFirst()).joined(separator: " "))
    }
    let isModel = { (path: String) in
        ShippedCheckpoint.path(of: path) != path
            || ModelFormat.all.contains { $0.isExtension(of: path) }
    }
    guard let index = arguments.firstIndex(where: isModel), index > 0 else { return }
    var others = arguments
    let model = others.remove(at: index)
    throw ValidationError(
        "\(model) is a model, which comes first: retint \(command) \(model) "
            + others.joined(separator: " "))
}

/// Says which function of a package is used, if it has several and its path names none.
func noteFunction(of model: Model) {
    guard let names = model.package?.functionNames, names.count > 1,
        FunctionPath(model.name).function == nil
    else { return }
    Console.note(
        "\(model.name): this is its function \(names[0]); name another one as "
            + "\(model.name)#\(names[1])")
}

/// Warns if a colorizer that is read from an ONNX file seems to return colors in another range than
/// is assumed without an import.
func warnOfRange(of model: Model) {
    guard let checkpoint = model.checkpoint,
        (try? ModelFormat(ofModelAt: model.name))?.isFor(.graphs) == true,
        let note = try? checkpoint.checkpoint().rangeNote()
    else { return }
    Console.warn("\(model.name): \(note) when importing it (retint import), and use the result")
}
