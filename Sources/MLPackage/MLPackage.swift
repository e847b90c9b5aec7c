import Foundation

/// A Core ML package (`.mlpackage`) with an ML Program: read from disk, or made in memory and
/// written.
///
/// A package that was read keeps its weight file open; the elements of its constants are read when
/// they are asked for.
package struct MLPackage: Hashable, Sendable {
    package var target: DeploymentTarget
    package var description: ModelDescription
    package var program: MILProgram

    package init(
        target: DeploymentTarget, description: ModelDescription, program: MILProgram
    ) {
        self.target = target
        self.description = description
        self.program = program
    }
}

extension MLPackage {
    /// Reads a package and checks all of it but the elements of its weights.
    package init(contentsOf path: String) throws(MLPackageError) {
        do {
            self = try PackageReader.read(path)
        } catch {
            throw MLPackageError(
                error, file: path,
                remedy:
                    "The package is damaged or of a kind that is not supported: export it again.")
        }
    }

    /// Writes the package beside `path`, then puts it there, replacing a package that stands there.
    ///
    /// The same package gives the same bytes. When writing fails, `path` is left as it was.
    package func write(to path: String) throws(MLPackageError) {
        do {
            try check()
            try PackageWriter.write(self, to: path)
        } catch {
            var told = MLPackageError(
                error, file: path, remedy: "Nothing was written; what stood there is untouched.")
            told.isUnwritable = (error as? Fault)?.isSystems ?? !(error is MLPackageError)
            throw told
        }
    }

    /// Checks the rules that every package has to keep.
    func check() throws {
        try ProgramRules.check(program)
        try InterfaceRules.check(description, program, target: target)
    }
}

extension MLPackageError {
    /// Any error, told with the file it happened to.
    fileprivate init(_ error: any Error, file: String, remedy: String) {
        switch error {
        case let error as MLPackageError: self = error
        case let fault as Fault: self = fault.error(file: file, remedy: remedy)
        default:
            let reason = Self.reason(error as NSError)
            self.init(file: file, place: "", rule: reason, remedy: remedy)
        }
    }

    /// The system's own words where an error comes from the system.
    private static func reason(_ error: NSError) -> String {
        let inner = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
        guard inner.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return String(cString: strerror(Int32(inner.code)))
    }
}
