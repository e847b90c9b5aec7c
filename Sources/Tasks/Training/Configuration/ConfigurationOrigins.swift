import RetintFiles

/// Where values of a configuration were read, for errors that are found later: settings that
/// contradict each other, or a value that the network does not take.
struct ConfigurationOrigins: Hashable, Sendable {
    enum Origin: Hashable, Sendable {
        /// The file with the line: "train.yaml:12".
        case file(String)
        /// A `key=value` setting.
        case setting
    }

    private struct Entry: Sendable {
        let origin: Origin
        /// The value that was read, as the configuration writes it.
        let text: String
    }

    private var entries: [String: Entry] = [:]

    /// Where the last value of a key was read; nil if none was.
    subscript(_ key: String) -> Origin? { entries[key]?.origin }

    /// Where the value of a key was read; nil if that was another value.
    func origin(of key: String, reading text: String) -> Origin? {
        entries[key].flatMap { $0.text == text ? $0.origin : nil }
    }

    mutating func add(_ origin: Origin, of key: String, reading text: String) {
        entries[key] = Entry(origin: origin, text: text)
    }

    // Configurations are equal wherever they were read.
    static func == (first: Self, second: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

extension TrainingConfiguration {
    /// Notes where the value of a key was read.
    mutating func note(_ origin: ConfigurationOrigins.Origin, of key: String) {
        guard let field = Field.all.first(where: { $0.key == key }) else { return }
        origins.add(origin, of: key, reading: field.text(self))
    }

    /// Where the value of a key was read; nil if it is a default, or was set as a property.
    private func origin(of key: String) -> ConfigurationOrigins.Origin? {
        Field.all.first { $0.key == key }.flatMap {
            origins.origin(of: key, reading: $0.text(self))
        }
    }

    /// A key for messages, with the line of the file that has its value.
    func described(_ key: String) -> String {
        guard case .file(let position) = origin(of: key) else { return key }
        return "\(key) (\(position))"
    }

    /// An error about a key, with the line of the file that has its value, or that it was a
    /// setting.
    func located(_ error: TrainingError) -> TrainingError {
        var error = error
        guard error.file.isEmpty, let origin = origin(of: error.place) else { return error }
        switch origin {
        case .file(let position): error.place = "\(position): \(error.place)"
        case .setting:
            if error.remedies.isEmpty { error.remedies = [Remedy(.settings)] }
        }
        return error
    }

    /// Refuses settings of distillation without a teacher, which would have no effect.
    ///
    /// A teacher of null is one that was taken away: its settings may stay in the file, and so runs
    /// write them.
    func requireTeacher() throws(TrainingError) {
        let teacher = "distillation.teacher"
        guard distillation.teacher == nil else { return }
        let removal = origins[teacher]
        for field in DistillationSettings.fields where field.key != teacher {
            let text = field.text(self)
            guard let origin = origins[field.key], text != "null" else { continue }
            if let removal, removal == .setting || origin != .setting { continue }
            throw located(
                TrainingError(
                    at: field.key,
                    "is \(text), and there is no teacher to learn from; name one in \(teacher), "
                        + "or leave \(field.key) out"))
        }
    }
}
