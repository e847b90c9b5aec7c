import RetintFiles
import Testing

/// Aliases are counted before YAML is read.
@Suite struct YAMLAliasTests {
    @Test(arguments: [
        ("a: *b", 1), ("[*a, *b]", 2), ("*a : 1", 1), ("- *a\n- *b\n", 2), ("? *a", 1),
        ("{*a: *b}", 2), ("a: 2*3", 0), ("a: * b", 0), ("a: *", 0), ("x*y: z", 0), ("", 0),
        // Counted too, though they are none.
        ("# *a", 1),
    ])
    func aliasesAreCounted(_ text: String, _ count: Int) {
        #expect(countYAMLAliases(text) == count)
    }
}
