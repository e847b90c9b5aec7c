/// The state dicts in a saved object: dictionaries of tensors by name.
///
/// ```
/// {"epoch": 3, "state_dict": {"conv.weight": …}, "optimizer": {…}}
/// ```
struct SavedStateDicts {
    typealias Entry = (name: String, tensor: PyTorchTensor)

    private let path: String
    /// The dictionaries by the dotted path of keys that leads to them; the root's is empty. One
    /// dictionary may have several keys.
    private var found: [(key: String, entries: [Entry], id: ObjectIdentifier)] = []
    private var visited: Set<ObjectIdentifier> = []
    /// The first place of each dictionary in ``found``.
    private var places: [ObjectIdentifier: Int] = [:]

    /// The keys under which training programs save a network's weights.
    private static let usualKeys: Set<String> = [
        "state_dict", "model", "model_state_dict", "model_state", "weights", "params",
        "params_ema", "net", "network", "generator", "netG", "module", "ema",
    ]
    /// The nesting depth of dictionaries that are searched.
    private static let depth = 3
    /// The largest number of keys listed in an error.
    private static let shown = 20

    init(in root: PickleValue, path: String) throws(TensorFileError) {
        self.path = path
        guard case .container(let container) = root, container.kind == .dictionary else {
            throw FilePlace(path).error(
                .otherFormat,
                "contains no dictionary of tensors; save one: torch.save(model.state_dict(), path)")
        }
        try search(container, "", Self.depth)
    }

    /// The entries of a state dict, without the prefixes that wrappers add to all names.
    ///
    /// - Parameter key: The key that leads to it, with dots between several, or the prefix of its
    ///   names, such as `model_ema`; if nil, the only state dict under a usual key, else that of
    ///   the root, else the only one.
    func entries(at key: String?) throws(TensorFileError) -> [Entry] {
        Self.unwrapped(try chosen(key))
    }

    private func chosen(_ key: String?) throws(TensorFileError) -> [Entry] {
        let place = FilePlace(path)
        if let key {
            if let match = found.first(where: { $0.key == key }) { return match.entries }
            let parts = found.map { part(of: $0.entries, under: key) }.filter { !$0.isEmpty }
            guard parts.count == 1 else {
                throw place.error(
                    .notFound, "has no tensors under the key \(key.debugDescription)\(keys)")
            }
            return parts[0]
        }
        let usual = found.filter { candidate in
            !candidate.key.isEmpty
                && candidate.key.split(separator: ".").allSatisfy {
                    Self.usualKeys.contains(String($0))
                }
        }
        let root = found.filter { $0.key.isEmpty }
        for candidates in [usual, root, found] {
            if Set(candidates.map(\.id)).count == 1 { return candidates[0].entries }
            guard candidates.isEmpty else {
                throw place.error(
                    .notFound, "contains the weights of several networks; name a key\(keys)")
            }
        }
        throw place.error(
            .notFound, "contains no named tensors; save them: torch.save(model.state_dict(), path)")
    }

    /// The tensors whose names begin with a word and a dot, without these.
    private func part(of entries: [Entry], under word: String) -> [Entry] {
        entries.filter { $0.name.hasPrefix(word + ".") }
            .map { (String($0.name.dropFirst(word.count + 1)), $0.tensor) }
    }

    /// The keys that can be named, for errors.
    private var keys: String {
        let named = found.filter { !$0.key.isEmpty }
        guard !named.isEmpty else { return "; it has no keys to choose from" }
        let list = named.prefix(Self.shown).map {
            "\($0.key.debugDescription) (\($0.entries.count) tensors)"
        }
        let more = named.count > Self.shown ? " and \(named.count - Self.shown) more" : ""
        return ": " + list.joined(separator: ", ") + more
    }

    private mutating func search(
        _ container: PickleContainer, _ key: String, _ depth: Int
    ) throws(TensorFileError) {
        let id = ObjectIdentifier(container)
        guard visited.insert(id).inserted else {
            if let place = places[id] { found.append((key, found[place].entries, id)) }
            return
        }
        var entries: [Entry] = []
        var inner: [(String, PickleContainer)] = []
        for case (.text(let name), let value) in container.pairs {
            if let tensor = value.tensor {
                entries.append((name, tensor))
            } else if case .container(let next) = value, next.kind == .dictionary,
                name.utf8.count <= FilePlace.longestName
            {
                inner.append((key.isEmpty ? name : "\(key).\(name)", next))
            }
        }
        if !entries.isEmpty {
            places[id] = found.count
            found.append((key, entries, id))
        }
        guard depth > 1 else { return }
        for (key, next) in inner { try search(next, key, depth - 1) }
    }

    /// The prefixes that DataParallel and torch.compile add to all names.
    private static let wrappers = ["module.", "_orig_mod."]

    /// The names without the prefixes that all of them share. The time grows with the length of the
    /// names alone.
    private static func unwrapped(_ entries: [Entry]) -> [Entry] {
        guard let first = entries.first else { return entries }
        let shared = entries.reduce(first.name.utf8.count) { shared, entry in
            zip(first.name.utf8, entry.name.utf8).prefix(shared).prefix { $0 == $1 }.count
        }
        var rest = first.name.utf8.prefix(shared)
        while let wrapper = wrappers.first(where: { rest.starts(with: $0.utf8) }) {
            rest = rest.dropFirst(wrapper.utf8.count)
        }
        let length = shared - rest.count
        guard length > 0 else { return entries }
        return entries.map { (String($0.name.utf8.dropFirst(length)) ?? $0.name, $0.tensor) }
    }
}
