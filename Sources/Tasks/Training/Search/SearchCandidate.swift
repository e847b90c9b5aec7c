/// A configuration that a search compares with others.
public struct SearchCandidate: Hashable, Sendable {
    /// The name in the report, such as `mobile-unet width=0.5`; unique within a search.
    public let name: String
    /// The configuration to train; ``search(_:output:rounds:imageSize:ranks:progress:)`` sets the
    /// output folder.
    public var configuration: TrainingConfiguration

    /// A candidate with a name.
    public init(name: String, configuration: TrainingConfiguration) {
        (self.name, self.configuration) = (name, configuration)
    }

    /// A candidate named after the `key=value` settings that distinguish it; for an architecture,
    /// only the value.
    public init(settings: [String], configuration: TrainingConfiguration) {
        let words = settings.map { setting in
            let pair = setting.split(separator: "=", maxSplits: 1)
            return pair.count == 2 && pair[0] == "architecture" ? String(pair[1]) : setting
        }
        self.init(name: words.joined(separator: " "), configuration: configuration)
    }

    /// The name as a file name.
    var folderName: String {
        String(name.map { $0.isLetter || $0.isNumber || ".=-".contains($0) ? $0 : "_" })
    }
}
