import ArgumentParser
import Retint

/// The damage that photos are given before the model sees them.
struct OldPhotoOptions: ParsableArguments {
    private static let names = OldPhotoSettings.Damage.allCases.map(\.rawValue)

    @Option(
        help: ArgumentHelp(
            """
            Damage the model's input like an old photo, always in the same way: all, or some of \
            \(names.joined(separator: ",")). The colors are applied to the undamaged photo.
            """, valueName: "damage"), completion: .list(["all"] + names))
    var oldPhoto: String?

    func validate() throws {
        for word in words where OldPhotoSettings.Damage(rawValue: word) == nil {
            throw ValidationError(
                "--old-photo \(word): unknown damage; use all, or some of "
                    + Self.names.joined(separator: ","))
        }
    }

    /// Each kind of damage that was named, to every photo.
    var settings: OldPhotoSettings {
        OldPhotoSettings(words.compactMap(OldPhotoSettings.Damage.init))
    }

    private var words: [String] {
        guard let oldPhoto else { return [] }
        return oldPhoto == "all"
            ? Self.names
            : oldPhoto.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
}
