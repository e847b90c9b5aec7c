public import RetintFiles

extension ModelFormat {
    /// What files of a format are for.
    public enum Use: Sendable, CaseIterable {
        /// Models that run.
        case running
        /// Packages, which run as they are.
        case packages
        /// What packages are written as.
        case writingPackages
        /// Networks of other programs.
        case graphs
        /// What `import` makes a checkpoint of.
        case importing
        /// Files of tensors.
        case weights
        /// What `export` writes.
        case exporting
    }

    /// The formats for a use, in the order of ``all``.
    public static func formats(for use: Use) -> [ModelFormat] { all.filter { $0.isFor(use) } }

    /// Whether files of this format are for a use.
    public func isFor(_ use: Use) -> Bool {
        switch (use, content) {
        case (.running, .package), (.running, .checkpoint), (.running, .graph): true
        case (.packages, .package), (.graphs, .graph), (.weights, .tensors): true
        case (.importing, .checkpoint), (.importing, .graph), (.importing, .tensors): true
        case (.writingPackages, .package), (.exporting, _): writing != nil
        default: false
        }
    }

    /// The format of an output's name, in capitals as well; nil if none is written that has its
    /// extension.
    public init?(ofOutput path: some PathConvertible) {
        let path = path.filePath.string
        let format = Self.formats(for: .exporting).first { $0.isExtension(of: path) }
        guard let format else { return nil }
        self = format
    }

    /// Whether a path ends in one of the format's extensions.
    public func isExtension(of path: some PathConvertible) -> Bool {
        guard let given = path.filePath.extension?.lowercased() else { return false }
        return extensions.contains(given)
    }

    /// Whether a file of this format is a folder.
    public var isFolder: Bool { checkReplaceable != nil }

    /// Refuses a path at which there is a folder that a file of this format must not replace.
    ///
    /// - Throws: `FileError`.
    public func checkReplaceable(at path: some PathConvertible) throws(FileError) {
        try checkReplaceable?(path.filePath.string)
    }
}

// MARK: Lists

extension ModelFormat {
    /// The title and the extensions: `Core ML (.mlpackage)`.
    public var description: String {
        let others = Self.all.filter {
            $0.title == title && $0.isFor(.exporting) == isFor(.exporting)
        }
        return "\(title) (\(others.flatMap(\.dottedExtensions).joined(separator: ", ")))"
    }

    /// The extensions with the dot.
    public var dottedExtensions: [String] { extensions.map { ".\($0)" } }

    /// The titles of formats with their extensions, each title once.
    public static func titles(_ formats: [ModelFormat]) -> [String] {
        formats.map(\.description).withoutRepeats
    }

    /// The usual extension of each format for a use: `.h5, .safetensors, .pth`.
    public static func usualExtensions(_ use: Use) -> String {
        formats(for: use).compactMap(\.dottedExtensions.first).joined(separator: ", ")
    }

    /// What files are, with the usual extensions, each noun once: `a package (.mlpackage)`.
    public static func nouns(_ formats: [ModelFormat]) -> [String] {
        formats.map(\.noun).withoutRepeats.map { noun in
            let usual = formats.filter { $0.noun == noun }.compactMap(\.dottedExtensions.first)
            return "\(noun) (\(usual.joined(separator: ", ")))"
        }
    }
}

extension ModelFormat: CustomStringConvertible {}

extension [ModelFormat] {
    /// The extensions without the dot, each once.
    public var extensions: [String] { flatMap(\.extensions).withoutRepeats }
}

extension [String] {
    /// Each text once, in the order of the first ones.
    fileprivate var withoutRepeats: [String] {
        reduce(into: []) { texts, text in
            if !texts.contains(text) { texts.append(text) }
        }
    }
}
