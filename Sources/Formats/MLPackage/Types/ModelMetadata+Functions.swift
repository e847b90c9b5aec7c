/// A package with several functions has one set of metadata. Entries that are not the same for all
/// functions have keys of the form `function.NAME.KEY`.
extension ModelMetadata {
    private static func prefix(of function: String) -> String { "function.\(function)." }

    /// The metadata of one function: without the entries of the others.
    func reduced(to function: String, of functions: [String]) -> ModelMetadata {
        var result = self
        let own = Self.prefix(of: function)
        let prefixes = functions.map(Self.prefix)
        result.userDefined = userDefined.filter { key, _ in !prefixes.contains(where: key.hasPrefix)
        }
        for (key, value) in userDefined where key.hasPrefix(own) {
            result.userDefined[String(key.dropFirst(own.count))] = value
        }
        return result
    }

    /// The metadata of a package of functions; texts are those of the first.
    static func merged(_ functions: [(name: String, metadata: ModelMetadata)]) -> ModelMetadata {
        guard var result = functions.first?.metadata else { return ModelMetadata() }
        result.userDefined = result.userDefined.filter { key, value in
            functions.allSatisfy { $0.metadata.userDefined[key] == value }
        }
        let shared = result.userDefined
        for (name, metadata) in functions {
            for (key, value) in metadata.userDefined where shared[key] == nil {
                result.userDefined[prefix(of: name) + key] = value
            }
        }
        return result
    }
}
