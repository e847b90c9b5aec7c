/// An object that a pickle describes.
///
/// No object refers to itself, directly or through others: see ``PickleContainer/add(_:)``.
enum PickleValue {
    case none
    case bool(Bool)
    case integer(Int)
    /// An integer of more than 64 bits: its bytes, little-endian.
    case longInteger([UInt8])
    case text(String)
    case container(PickleContainer)
    case global(PyTorchGlobal)
    case storage(PyTorchStorage)
    case tensor(PyTorchTensor)
    /// A value that no weight needs, such as a learning rate.
    case other

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    var integer: Int? {
        guard case .integer(let integer) = self else { return nil }
        return integer
    }

    var tensor: PyTorchTensor? {
        guard case .tensor(let tensor) = self else { return nil }
        return tensor
    }

    /// The elements of a tuple; nil for anything else.
    var tuple: [PickleValue]? { elements(of: .tuple) }

    func elements(of kind: PickleContainer.Kind) -> [PickleValue]? {
        guard case .container(let container) = self, container.kind == kind else { return nil }
        return container.elements
    }
}

/// A tuple, list or dictionary of a pickle.
final class PickleContainer {
    enum Kind { case tuple, list, dictionary }

    let kind: Kind
    /// The elements; for a dictionary, keys and values alternate.
    private(set) var elements: [PickleValue] = []
    /// The nesting depth of containers, including this one.
    private(set) var depth = 1
    /// Whether another container contains this one.
    private var isHeld = false

    init(_ kind: Kind) { self.kind = kind }

    /// The pairs of a dictionary; empty for other containers.
    var pairs: [(key: PickleValue, value: PickleValue)] {
        guard kind == .dictionary else { return [] }
        return stride(from: 0, to: elements.count - 1, by: 2).map {
            (elements[$0], elements[$0 + 1])
        }
    }

    /// Adds elements; returns whether that is allowed.
    ///
    /// Pickles fill a container before they put it into another. A container that is filled later
    /// could contain itself, so that is refused; for the same reason, a container cannot be added
    /// to itself.
    func add(_ added: some Sequence<PickleValue>) -> Bool {
        guard !isHeld else { return false }
        for value in added {
            if case .container(let container) = value {
                guard container !== self else { return false }
                container.isHeld = true
                depth = max(depth, container.depth + 1)
            }
            elements.append(value)
        }
        return true
    }
}
