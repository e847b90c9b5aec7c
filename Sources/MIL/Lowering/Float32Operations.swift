import Foundation
import MLPackage

/// Which operations of a float16 package compute in float32.
public struct Float32Operations: Hashable, Sendable {
    /// Patterns with `*`, `?` and `[…]` for names: the module's path and the operation
    /// (`model8.2.conv2d`), or the name in the package (`model8_2_conv2d`).
    public var names: [String]
    /// Types of the package's operations: `conv`, `softmax`.
    public var types: [String]
    /// Names of operations that were seen to go beyond float16 on photos, once that was measured;
    /// operations whose weights do so join them.
    public var overflowing: Set<String>?

    public init(names: [String] = [], types: [String] = [], overflowing: Set<String>? = nil) {
        self.names = names
        self.types = types
        self.overflowing = overflowing
    }

    var isEmpty: Bool { names.isEmpty && types.isEmpty && overflowing == nil }

    /// What keeps these operations in float32: patterns and types, or nothing.
    func reasons(_ operations: [MILOperation], alsoCalled names: [String]) -> [String] {
        let called = names + operations.map(\.name)
        let patterns = self.names.filter { pattern in
            called.contains { fnmatch(pattern, $0, 0) == 0 }
        }
        return patterns + types.filter { type in operations.contains { $0.type == type } }
    }

    /// The error of patterns and types that fit nothing in a program.
    func unmatched(_ words: Set<String>, in program: MILProgram) -> ConversionError {
        let computing = program.operations.filter { !$0.isConstant && $0.type != "cast" }
        let types = Set(computing.map(\.type)).sorted().joined(separator: ", ")
        var error = ConversionError(
            place: "float32 operations \(words.sorted().joined(separator: ", "))",
            rule: "no operation of the program is called so or of that type",
            remedy: "Its types are \(types); its names are such as "
                + "\(computing.prefix(3).map(\.name).joined(separator: ", ")).")
        error.cause = .option
        return error
    }
}
