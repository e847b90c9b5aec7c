// The meaning of the known globals.
extension PickleMachine {
    /// The longest name of a module or of one of its members.
    private static let longestName = 256

    mutating func pushGlobal(_ opcode: PickleOpcode) throws(TensorFileError) {
        let (module, name): (String, String)
        if opcode == .global {
            module = String(decoding: try input.line(limit: Self.longestName), as: UTF8.self)
            name = String(decoding: try input.line(limit: Self.longestName), as: UTF8.self)
        } else {
            guard let second = try pop().text, let first = try pop().text,
                max(first.utf8.count, second.utf8.count) <= Self.longestName
            else { throw damaged("STACK_GLOBAL needs two names") }
            (module, name) = (first, second)
        }
        guard let global = PyTorchGlobal(module: module, name: name) else {
            throw refused(PyTorchGlobal.refusal(module: module, name: name))
        }
        try push(.global(global))
    }

    /// The result of calling a known function.
    mutating func reduce() throws(TensorFileError) {
        guard let arguments = try pop().tuple else {
            throw damaged("a call needs a tuple of arguments")
        }
        guard case .global(let function) = try pop() else {
            throw refused("calls an object that is not a known function")
        }
        switch function {
        case .orderedDict: try pushOrderedDict(arguments)
        case .size: try push(size(arguments))
        case .rebuildTensor, .rebuildTensorV2, .rebuildTensorV3:
            try push(.tensor(tensor(function, arguments)))
        case .rebuildParameter:
            guard arguments.count == 3, let tensor = arguments[0].tensor else {
                throw damaged("_rebuild_parameter needs a tensor and two more arguments")
            }
            try push(.tensor(tensor))
        case .scalar: try push(.other)
        case .elements, .untyped: throw refused("calls a type, which does not create a tensor")
        }
    }

    /// Python 3 makes an empty dictionary and fills it; Python 2 passes a list of pairs.
    private mutating func pushOrderedDict(
        _ arguments: [PickleValue]
    ) throws(TensorFileError) {
        guard !arguments.isEmpty else { return try pushContainer(.dictionary, []) }
        guard arguments.count == 1, let list = arguments[0].elements(of: .list) else {
            throw damaged("OrderedDict needs a list of pairs")
        }
        // The list may be one that other calls were passed as well.
        try count(2 * list.count)
        var elements: [PickleValue] = []
        for pair in list {
            guard let both = pair.elements(of: .list) ?? pair.tuple, both.count == 2 else {
                throw damaged("OrderedDict needs a list of pairs")
            }
            elements += both
        }
        try pushContainer(.dictionary, elements)
    }

    private func size(_ arguments: [PickleValue]) throws(TensorFileError) -> PickleValue {
        guard arguments.count == 1, arguments[0].tuple != nil else {
            throw damaged("Size needs a tuple")
        }
        return arguments[0]
    }

    /// Sets an object's attributes, which no weight needs: `_metadata` of a state dict.
    mutating func build() throws(TensorFileError) {
        _ = try pop()
        let object = try pop()
        switch object {
        case .container(let container) where container.kind == .dictionary: break
        case .other: break
        default: throw refused("sets the state of something that is not a dictionary")
        }
        try push(object)
    }

    /// A storage: `("storage", type, key, device, count)`, and a view in the old format.
    mutating func pushStorage() throws(TensorFileError) {
        let fields = try pop().tuple ?? []
        guard let kind = fields.first?.text else {
            throw damaged("a persistent object needs a tuple that begins with its kind")
        }
        guard kind == "storage" else {
            throw refused("a persistent object of the kind \(Self.shown(kind)); \(Self.remedy)")
        }
        guard fields.count == 5 || fields.count == 6, let type = fields[1].storageElements,
            let key = fields[2].text, let count = fields[4].integer, count >= 0,
            key.utf8.count <= Self.longestName
        else { throw damaged("a storage needs a type, a key, a device and a count of elements") }
        if fields.count == 6, case .none = fields[5] {
        } else if fields.count == 6 {
            throw refused("storage \(Self.shown(key)) is a view of another storage")
        }
        try push(.storage(storage(PyTorchStorage(key: key, type: type, count: count))))
    }

    private mutating func storage(
        _ storage: PyTorchStorage
    ) throws(TensorFileError) -> PyTorchStorage {
        guard let known = storages[storage.key] else {
            guard storages.count < limits.objects else {
                throw refused("has more than \(limits.objects) storages; raise the limit")
            }
            storages[storage.key] = storage
            return storage
        }
        guard known == storage else {
            throw damaged("storage \(Self.shown(storage.key)) has two types or sizes")
        }
        return known
    }

    private func tensor(
        _ function: PyTorchGlobal, _ arguments: [PickleValue]
    ) throws(TensorFileError) -> PyTorchTensor {
        let counts: ClosedRange<Int> =
            switch function {
            case .rebuildTensor: 4...4
            case .rebuildTensorV2: 6...7
            default: 7...8
            }
        guard counts.contains(arguments.count), case .storage(let storage) = arguments[0],
            let offset = arguments[1].integer
        else { throw damaged("a tensor needs a storage, an offset, a shape and strides") }
        let (shape, strides) = (try extents(arguments[2]), try extents(arguments[3]))
        // A conjugated or negated view: the elements differ from those in the storage.
        if arguments.count == counts.upperBound, counts.count > 1,
            case .container(let metadata) = arguments[arguments.count - 1],
            !metadata.elements.isEmpty
        {
            throw refused("a tensor is a conjugated or negated view; save its clone")
        }
        var type = storage.type
        if function == .rebuildTensorV3 {
            guard case .global(.elements(let named)) = arguments[6] else {
                throw damaged("_rebuild_tensor_v3 needs a dtype")
            }
            type = named
        }
        return PyTorchTensor(
            storage: storage, type: type, offset: offset, extents: shape, strides: strides)
    }

    /// A shape or strides: a tuple, which thousands of tensors may refer to.
    private func extents(_ value: PickleValue) throws(TensorFileError) -> [Int] {
        guard let values = value.tuple else {
            throw damaged("a tensor needs a storage, an offset, a shape and strides")
        }
        guard values.count <= limits.rank else {
            throw refused(
                "a tensor has \(values.count) dimensions; the limit is \(limits.rank)")
        }
        let integers = values.compactMap(\.integer)
        guard integers.count == values.count else {
            throw damaged("a tensor needs a storage, an offset, a shape and strides")
        }
        return integers
    }

    /// Text of the file in quotes, shortened and escaped.
    private static func shown(_ text: String) -> String {
        String(text.prefix(longestName)).debugDescription
    }

    private static let remedy = "save only the tensors: torch.save(model.state_dict(), path)"
}

extension PickleValue {
    /// The type of a storage's elements; nil for anything else.
    fileprivate var storageElements: PyTorchElements? {
        switch self {
        case .global(.elements(let type)): type
        case .global(.untyped): .uint8
        default: nil
        }
    }
}
