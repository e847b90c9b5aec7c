import ArgumentParser
import Retint

/// The damage that photos are given before the model sees them.
struct OldPhotoOptions: ParsableArguments {
    private static let names = OldPhotoSettings.Damage.allCases.map(\.rawValue)

    @Option(
        help: ArgumentHelp(
            """
            Show the model each photo as if it were old, always in the same way: all, or some of \
            \(names.joined(separator: ",")). Its colors are put onto the photo itself.
            """, valueName: "damage"), completion: .list(["all"] + names))
    var oldPhoto: String?

    func validate() throws {
        for word in words where OldPhotoSettings.Damage(rawValue: word) == nil {
            throw ValidationError(
                "--old-photo \(word): is no damage; use all, or some of "
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
