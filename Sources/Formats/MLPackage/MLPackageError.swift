import RetintFiles

/// Why a package cannot be read or written: the file, the position in it, the rule that is broken
/// and what to do about it.
public struct MLPackageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the package or of a file in it; empty for a package in memory.
    public internal(set) var file: String
    /// The position in the file, for example `operation 12 (conv, "conv_0"), parameter "weight"`;
    /// empty where the file as a whole is meant.
    public internal(set) var place: String
    /// The rule that is broken.
    public let rule: String
    /// What to do about it.
    public let remedy: String
    /// Whether the system refused to write the package, which itself is correct.
    public let isUnwritable: Bool

    package init(
        file: String, place: String, rule: String, remedy: String, isUnwritable: Bool = false
    ) {
        self.file = file
        self.place = place
        self.rule = rule
        self.remedy = remedy
        self.isUnwritable = isUnwritable
    }

    /// `file: place: rule. remedy`, without empty parts.
    public var description: String {
        [file, place, rule].filter { !$0.isEmpty }.joined(separator: ": ") + ". " + remedy
    }
}

extension MLPackageError {
    /// An error of reading or writing a file.
    package init(_ error: FileError, remedy: String? = nil) {
        let fallback =
            error.remedy.isEmpty
            ? ""
            : error.remedy.prefix(1).uppercased()
                + error.remedy.dropFirst() + "."
        self.init(
            file: error.path, place: "", rule: "cannot \(error.operation): \(error.reason)",
            remedy: fallback.isEmpty ? remedy ?? "Export or copy the package again." : fallback,
            isUnwritable: error.operation != "read" && error.errorNumber != 0)
    }

    /// Any error of reading or writing the package at `file`.
    init(_ error: any Error, file: String, remedy: String) {
        switch error {
        case let error as MLPackageError: self = error
        case let fault as Fault: self = fault.error(file: file, remedy: remedy)
        case let error as FileError: self.init(error, remedy: remedy)
        default: self.init(file: file, place: "", rule: "\(error)", remedy: remedy)
        }
    }
}

/// An error whose file is not known yet: inner functions work on parts that have no path.
struct Fault: Error {
    var place: String
    var rule: String
    var remedy: String?

    init(_ place: String, _ rule: String, _ remedy: String? = nil) {
        self.place = place
        self.rule = rule
        self.remedy = remedy
    }

    /// The fault with an outer place before its own.
    func within(_ outer: String) -> Fault {
        Fault(place.isEmpty ? outer : outer + ", " + place, rule, remedy)
    }

    func error(file: String, remedy fallback: String) -> MLPackageError {
        MLPackageError(file: file, place: place, rule: rule, remedy: remedy ?? fallback)
    }
}

/// Runs `body`, putting `place` before the place of any error.
func at<Result>(_ place: @autoclosure () -> String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let fault as Fault {
        throw fault.within(place())
    } catch var error as MLPackageError {
        error.place = error.place.isEmpty ? place() : place() + ", " + error.place
        throw error
    }
}

/// Throws a fault unless the condition holds.
func require(
    _ condition: Bool, _ place: @autoclosure () -> String, _ rule: @autoclosure () -> String,
    _ remedy: @autoclosure () -> String? = nil
) throws {
    if !condition { throw Fault(place(), rule(), remedy()) }
}
