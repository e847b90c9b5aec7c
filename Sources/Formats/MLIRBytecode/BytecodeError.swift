/// A place in bytecode that breaks a rule of the format.
package struct BytecodeError: Error, Hashable, Sendable {
    /// The position in the file, in bytes.
    package let offset: Int
    /// The rule that is broken.
    package let rule: String

    package init(offset: Int, _ rule: String) {
        self.offset = offset
        self.rule = rule
    }
}
