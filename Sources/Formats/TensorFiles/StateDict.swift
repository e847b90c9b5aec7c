public import RetintTensors

/// The tensors of a model by dotted PyTorch name (`model1.0.weight`), in a fixed order.
public struct StateDict: Hashable, Sendable {
    /// The names of the tensors in the order of the file or of their addition.
    public private(set) var names: [String] = []
    /// The shapes of the file's tensors that were not read, because their name or shape was not
    /// expected. ``compare(expected:)`` reports them.
    public internal(set) var unread: [String: Shape] = [:]
    private var tensors: [String: StoredTensor] = [:]

    /// An empty state dict.
    public init() {}

    /// The number of tensors, without those that were not read.
    public var count: Int { names.count }
    /// Whether there are no tensors, apart from those that were not read.
    public var isEmpty: Bool { names.isEmpty }

    /// The tensor with that name. Adding one appends its name; assigning nil removes it.
    public subscript(name: String) -> StoredTensor? {
        get { tensors[name] }
        set {
            let old = tensors.updateValueOrRemove(newValue, for: name)
            if newValue == nil, old != nil {
                names.removeAll { $0 == name }
            } else if newValue != nil, old == nil {
                names.append(name)
            }
        }
    }

    /// Removes all tensors whose names have this prefix, including those that were not read.
    public mutating func removeAll(withPrefix prefix: String) {
        for name in names where name.hasPrefix(prefix) { self[name] = nil }
        unread = unread.filter { !$0.key.hasPrefix(prefix) }
    }
}

extension StateDict: Sequence {
    /// Makes an iterator over names and tensors, in the order of ``names``.
    public func makeIterator() -> AnyIterator<(name: String, tensor: StoredTensor)> {
        var remaining = names.makeIterator()
        return AnyIterator { remaining.next().map { ($0, tensors[$0]!) } }
    }
}

extension Dictionary {
    /// Sets or removes the value of `key` and returns the previous one.
    fileprivate mutating func updateValueOrRemove(_ value: Value?, for key: Key) -> Value? {
        guard let value else { return removeValue(forKey: key) }
        return updateValue(value, forKey: key)
    }
}
