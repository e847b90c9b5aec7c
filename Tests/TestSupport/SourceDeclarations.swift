package import Foundation

/// The types that a target declares and the protocols that they adopt, read from its sources:
/// Swift cannot list the types that conform to a protocol.
package struct SourceDeclarations {
    /// The protocols that a type or protocol names in its declaration or an extension.
    private var adopted: [String: Set<String>] = [:]
    private var protocols: Set<String> = []

    /// - Parameter folder: a folder of the package, such as `Sources/Formats/MIL`.
    package init(of folder: String) throws {
        let path = packageRoot.appending(path: folder).path
        guard let files = FileManager.default.enumerator(atPath: path) else {
            throw CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: path])
        }
        for case let file as String in files where file.hasSuffix(".swift") {
            read(try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8))
        }
    }

    private mutating func read(_ text: String) {
        let declaration =
            #/
            ^ (?: @?\w+\h+ )*? (?<kind> extension|struct|enum|class|protocol) \h+
            (?<name> \w+) \s* : \s* (?<adopted> [^{]+) \{
            /#.anchorsMatchLineEndings()
        for match in text.matches(of: declaration) {
            let list = match.output.adopted.prefix { $0 != "{" }.split(separator: " where ")[0]
            let names = list.split { !$0.isLetter && !$0.isNumber }.map(String.init)
            adopted[String(match.output.name), default: []].formUnion(names)
            if match.output.kind == "protocol" { protocols.insert(String(match.output.name)) }
        }
    }

    /// The names of all types that adopt a protocol, also by others that inherit from it.
    package func types(adopting name: String) -> Set<String> {
        let direct = adopted.filter { $0.value.contains(name) }.keys
        return direct.reduce(into: []) { types, found in
            if protocols.contains(found) {
                types.formUnion(self.types(adopting: found))
            } else {
                types.insert(found)
            }
        }
    }
}

/// The folder of Package.swift.
package let packageRoot = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
