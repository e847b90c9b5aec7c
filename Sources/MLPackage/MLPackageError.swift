/// Why a package cannot be read or written: the file, the place in it, the rule that is broken, and
/// the way out.
package struct MLPackageError: Error, Hashable, CustomStringConvertible {
    /// The path of the package or of the file in it.
    package var file: String
    /// For example `operation 12 (conv, "conv_0"), parameter "weight"`.
    package var place: String
    /// What is wrong, said by what would be right.
    package var rule: String
    /// What the reader of the message can do.
    package var remedy: String
    /// Whether the system did not let it be written: the package itself is right.
    package internal(set) var isUnwritable = false

    package init(file: String, place: String, rule: String, remedy: String) {
        self.file = file
        self.place = place
        self.rule = rule
        self.remedy = remedy
    }

    package var description: String {
        [file, place, rule].filter { !$0.isEmpty }.joined(separator: ": ") + ". " + remedy
    }
}

/// An error before the file is known: inner functions work on parts that have no path.
struct Fault: Error {
    var place: String
    var rule: String
    var remedy: String?
    /// Whether it is not the package that is wrong.
    var isSystems = false

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
