public import RetintFiles

/// Several packages as the functions of one, which share equal weights: a network for several
/// sizes, or several heads on one encoder. Core ML loads the function that an app names.
///
///     let both = try MultifunctionPackage([
///         ("small", MLPackage(contentsOf: "colorizer-256.mlpackage")),
///         ("large", MLPackage(contentsOf: "colorizer-512.mlpackage")),
///     ])
///     try both.write(to: "colorizer.mlpackage")
///
/// `MLPackage(contentsOf: "colorizer.mlpackage#large")` reads one of them.
public struct MultifunctionPackage: Sendable {
    /// The functions, by unique names; the first is the default.
    public let functions: [(name: String, package: MLPackage)]

    private static let maximumCount = 64

    /// Creates a package of functions.
    ///
    /// - Parameter functions: at least two, for the same target of iOS18 or later. The first is the
    ///   function that runs when an app names none.
    /// - Throws: ``MLPackageError`` for names that are not legal or not unique, and for packages
    ///   of different or older targets.
    public init(_ functions: [(name: String, package: MLPackage)]) throws(MLPackageError) {
        self.functions = functions
        do {
            try check()
        } catch {
            throw MLPackageError(error, file: "", remedy: "Nothing was combined.")
        }
    }

    private func check() throws {
        try require(
            (2...Self.maximumCount).contains(functions.count), "",
            "2 to \(Self.maximumCount) functions are needed, not \(functions.count)")
        var names: Set<String> = []
        for (name, package) in functions {
            let place = "function \"\(name)\""
            try require(
                MILNames.isLegal(name), place,
                "names have letters, digits, \"_\" and \"@\", start with a letter and are not a "
                    + "keyword")
            try require(names.insert(name).inserted, place, "the name is used twice")
            try require(
                package.description.classifier == nil, place,
                "classifiers with labels cannot be combined")
            try require(
                package.target >= .iOS18, place,
                "its package is for \(package.target.rawValue); functions need iOS18",
                "Export it again with --target iOS18.")
            try require(
                package.target == functions[0].package.target, place,
                "its package is for \(package.target.rawValue), the first one for "
                    + functions[0].package.target.rawValue,
                "Export all for the same target.")
        }
    }

    /// Writes the package to a temporary folder next to `path`, then replaces the package at `path`
    /// with it in one step. Equal weights are written once.
    ///
    /// - Throws: as `MLPackage.write(to:)` does.
    public func write(to path: some PathConvertible) throws(MLPackageError) {
        try PackageWriter.write(self, to: path.filePath)
    }
}
