public import RetintFiles

/// Why a package cannot be read or written: the file, the position in it, the rule that is broken
/// and what to do about it.
///
/// The file is that of the package or one in it, and empty for a package in memory; a place is, for
/// example, `operation 12 (conv, "conv_0"), parameter "weight"`.
public typealias MLPackageError = Refusal<MLPackageProblem>

/// What is refused of a package.
public enum MLPackageProblem: RefusalKind {
    /// The package, or a file in it, breaks a rule.
    case damaged
    /// The system refused to write the package, which itself is correct.
    case unwritable

    /// The package's, unless it cannot be written.
    public var fault: Fault { self == .unwritable ? .failure : .input }
}

extension MLPackageError {
    package init(
        file: String, place: String, rule: String, remedy: String, kind: Kind = .damaged
    ) {
        self.init(kind, file: file, place: place, rule: rule, remedy: remedy)
    }

    /// An error of reading or writing a file.
    package init(_ error: FileError, remedy: String? = nil) {
        let fallback =
            error.remedy.isEmpty
            ? ""
            : error.remedy.prefix(1).uppercased()
                + error.remedy.dropFirst() + "."
        self.init(
            file: error.file, place: "", rule: "cannot \(error.operation): \(error.reason)",
            remedy: fallback.isEmpty ? remedy ?? "Export or copy the package again." : fallback,
            kind: error.operation != "read" && error.errorNumber != 0 ? .unwritable : .damaged)
    }

    /// Any error of reading or writing the package at `file`.
    package init(_ error: any Error, file: String, remedy: String) {
        switch error {
        case let error as MLPackageError: self = error
        case let fault as BrokenRule: self = fault.error(file: file, remedy: remedy)
        case let error as FileError: self.init(error, remedy: remedy)
        default: self.init(file: file, place: "", rule: "\(error)", remedy: remedy)
        }
    }
}

/// An error whose file is not known yet: inner functions work on parts that have no path.
struct BrokenRule: Error {
    var place: String
    var rule: String
    var remedy: String?

    init(_ place: String, _ rule: String, _ remedy: String? = nil) {
        self.place = place
        self.rule = rule
        self.remedy = remedy
    }

    /// The same with an outer place before its own.
    func within(_ outer: String) -> BrokenRule {
        BrokenRule(place.isEmpty ? outer : outer + ", " + place, rule, remedy)
    }

    func error(file: String, remedy fallback: String) -> MLPackageError {
        MLPackageError(file: file, place: place, rule: rule, remedy: remedy ?? fallback)
    }
}

/// Runs `body`, putting `place` before the place of any error.
func at<Result>(_ place: @autoclosure () -> String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let fault as BrokenRule {
        throw fault.within(place())
    } catch var error as MLPackageError {
        error.place = error.place.isEmpty ? place() : place() + ", " + error.place
        throw error
    }
}

/// Throws a ``BrokenRule`` unless the condition holds.
func require(
    _ condition: Bool, _ place: @autoclosure () -> String, _ rule: @autoclosure () -> String,
    _ remedy: @autoclosure () -> String? = nil
) throws {
    if !condition { throw BrokenRule(place(), rule(), remedy()) }
}
