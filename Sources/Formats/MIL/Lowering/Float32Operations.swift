import Foundation
import RetintMLPackage

/// Selects the operations of a float16 package that compute in float32.
public struct Float32Operations: Hashable, Sendable {
    /// Patterns for names of operations, with the wildcards `*`, `?` and `[…]`. They match the
    /// module path with the operation (`model8.2.conv2d`) or the name in the package
    /// (`model8_2_conv2d`).
    public var names: [String]
    /// MIL operation types, such as `conv` and `softmax`.
    public var types: [String]
    /// Names of operations whose values exceeded the float16 range on calibration photos; nil if
    /// not measured. Unless nil, operations whose weights exceed the range are selected as well.
    public var overflowing: Set<String>?

    /// Creates a selection; by default it is empty.
    public init(names: [String] = [], types: [String] = [], overflowing: Set<String>? = nil) {
        self.names = names
        self.types = types
        self.overflowing = overflowing
    }

    var isEmpty: Bool { names.isEmpty && types.isEmpty && overflowing == nil }

    /// The patterns and types that match any of these operations; empty if none does.
    func reasons(_ operations: [MILOperation], aliases: [String]) -> [String] {
        let candidates = aliases + operations.map(\.name)
        let patterns = names.filter { pattern in
            candidates.contains { fnmatch(pattern, $0, 0) == 0 }
        }
        return patterns + types.filter { type in operations.contains { $0.type == type } }
    }

    /// The error for patterns and types that match no operation of a program.
    func unmatched(_ selectors: Set<String>, in program: MILProgram) -> ConversionError {
        let computing = program.operations.filter { !$0.isConstant && $0.type != "cast" }
        let types = Set(computing.map(\.type)).sorted().joined(separator: ", ")
        var error = ConversionError(
            place: "float32 operations \(selectors.sorted().joined(separator: ", "))",
            rule: "no operation of the program has this name or type",
            remedy: "The program's types are \(types); its names look like "
                + "\(computing.prefix(3).map(\.name).joined(separator: ", ")).")
        error.kind = .option
        return error
    }
}
