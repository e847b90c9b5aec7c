/// Reads a pickle as data. No name in it is looked up or called: see ``PyTorchGlobal``.
struct PickleMachine {
    var input: PickleInput
    let limits: TensorFileLimits
    /// The storages that the pickle refers to, by key.
    var storages: [String: PyTorchStorage] = [:]
    private var stack: [PickleValue] = []
    /// The stack heights of marks.
    private var marks: [Int] = []
    private var memo: [Int: PickleValue] = [:]
    private var objects = 0

    /// A pickle with more bytes is refused. That of a network takes about 150 for a tensor.
    static let longest = 64 << 20
    /// A tensor is about 40 objects, and so is each of its moments in an optimizer.
    private static let objectsPerTensor = 40

    init(_ input: PickleInput, limits: TensorFileLimits) {
        (self.input, self.limits) = (input, limits)
    }

    /// Reads up to the end of the pickle.
    ///
    /// - Throws: ``TensorFileError`` for anything that is not allowed or makes no sense.
    mutating func run() throws(TensorFileError) -> PickleValue {
        (stack, marks, memo) = ([], [], [:])
        let begin = input.position
        while true {
            guard input.position - begin <= Self.longest else {
                throw refused("has more than \(Self.longest) bytes, without those of tensors")
            }
            let byte = try input.byte()
            guard let opcode = PickleOpcode(rawValue: byte) else {
                throw refused(
                    "\(PickleOpcode.refusedName(byte)) (\(byte)) is refused: a state dict "
                        + "does not need it")
            }
            if opcode == .stop { return try result() }
            try carryOut(opcode)
        }
    }

    private mutating func result() throws(TensorFileError) -> PickleValue {
        guard stack.count == 1, marks.isEmpty else {
            throw damaged("ends with \(stack.count) objects instead of one")
        }
        return stack[0]
    }

    private mutating func carryOut(_ opcode: PickleOpcode) throws(TensorFileError) {
        switch opcode {
        case .proto, .frame, .stop: try skipHeader(opcode)
        case .none, .newTrue, .newFalse, .binInt, .binInt1, .binInt2, .long1, .binFloat:
            try push(number(opcode))
        case .binUnicode, .binString: try push(text(lengthBytes: 4))
        case .shortBinUnicode, .shortBinString: try push(text(lengthBytes: 1))
        case .binUnicode8: try push(text(lengthBytes: 8))
        case .binBytes: try pushBytes(lengthBytes: 4)
        case .shortBinBytes: try pushBytes(lengthBytes: 1)
        case .binBytes8: try pushBytes(lengthBytes: 8)
        case .mark: try pushMark()
        case .emptyTuple: try pushContainer(.tuple, [])
        case .tuple: try pushContainer(.tuple, popToMark())
        case .tuple1: try pushTuple(1)
        case .tuple2: try pushTuple(2)
        case .tuple3: try pushTuple(3)
        case .emptyList: try pushContainer(.list, [])
        case .append: try add([pop()], to: .list)
        case .appends: try add(popToMark(), to: .list)
        case .emptyDict: try pushContainer(.dictionary, [])
        case .setItem: try add(popLast(2), to: .dictionary)
        case .setItems: try add(popToMark(), to: .dictionary)
        case .binPut: try remember(input.number(1))
        case .longBinPut: try remember(input.number(4))
        case .memoize: try remember(UInt64(memo.count))
        case .binGet: try recall(input.number(1))
        case .longBinGet: try recall(input.number(4))
        case .global, .stackGlobal: try pushGlobal(opcode)
        case .reduce: try reduce()
        case .build: try build()
        case .binPersID: try pushStorage()
        }
    }
}

// The stack.
extension PickleMachine {
    func refused(_ problem: String) -> TensorFileError { input.error(.refused, problem) }

    func damaged(_ problem: String) -> TensorFileError { input.error(.damaged, problem) }

    mutating func push(_ value: PickleValue) throws(TensorFileError) {
        try count()
        stack.append(value)
    }

    mutating func pop() throws(TensorFileError) -> PickleValue {
        guard stack.count > marks.last ?? 0 else {
            throw damaged("takes an object from an empty stack")
        }
        return stack.removeLast()
    }

    private mutating func popLast(_ count: Int) throws(TensorFileError) -> [PickleValue] {
        var values: [PickleValue] = []
        for _ in 0..<count { values.append(try pop()) }
        return values.reversed()
    }

    private mutating func popToMark() throws(TensorFileError) -> [PickleValue] {
        guard let mark = marks.popLast() else { throw damaged("pops a mark, but none is set") }
        defer { stack.removeSubrange(mark...) }
        return Array(stack[mark...])
    }

    private mutating func pushMark() throws(TensorFileError) {
        try count()
        marks.append(stack.count)
    }

    /// Bounds memory: a one-byte opcode creates an object of about a hundred bytes.
    ///
    /// - Parameter amount: the number of objects, or of references that are copied.
    mutating func count(_ amount: Int = 1) throws(TensorFileError) {
        objects += amount
        guard objects <= limits.objects.multipliedClamping(by: Self.objectsPerTensor) else {
            throw refused(
                "contains more objects than \(limits.objects) tensors need; raise the limit of "
                    + "objects to read it")
        }
    }

    private mutating func pushTuple(_ count: Int) throws(TensorFileError) {
        try pushContainer(.tuple, popLast(count))
    }

    mutating func pushContainer(
        _ kind: PickleContainer.Kind, _ elements: [PickleValue]
    ) throws(TensorFileError) {
        let container = PickleContainer(kind)
        try fill(container, with: elements)
        try push(.container(container))
    }

    private mutating func add(
        _ elements: [PickleValue], to kind: PickleContainer.Kind
    ) throws(TensorFileError) {
        let target = try pop()
        guard case .container(let container) = target, container.kind == kind else {
            throw damaged("adds elements to something that is not a \(kind)")
        }
        guard kind != .dictionary || elements.count.isMultiple(of: 2) else {
            throw damaged("adds a key without a value")
        }
        try fill(container, with: elements)
        stack.append(target)
    }

    private func fill(
        _ container: PickleContainer, with elements: [PickleValue]
    ) throws(TensorFileError) {
        guard container.add(elements) else {
            throw refused("changes an object of another container, and may contain itself")
        }
        guard container.depth <= limits.depth else {
            throw refused("nests objects more than \(limits.depth) deep; raise the limit of depth")
        }
    }

    private mutating func remember(_ index: UInt64) throws(TensorFileError) {
        guard stack.count > marks.last ?? 0, let value = stack.last else {
            throw damaged("memoizes an object of an empty stack")
        }
        try count()
        memo[Int(index)] = value
    }

    private mutating func recall(_ index: UInt64) throws(TensorFileError) {
        guard let value = memo[Int(index)] else {
            throw damaged("requests object \(index), which was not memoized")
        }
        try push(value)
    }
}

// Headers, numbers and texts.
extension PickleMachine {
    private mutating func skipHeader(_ opcode: PickleOpcode) throws(TensorFileError) {
        guard opcode == .proto else {
            let length = try input.number(8)
            guard length <= UInt64(input.remaining) else {
                throw damaged("a frame of \(length) bytes, but \(input.remaining) are left")
            }
            return
        }
        let version = try input.byte()
        guard (2...5).contains(version) else {
            throw refused("protocol \(version) is not supported; torch.save writes protocol 2")
        }
    }

    private mutating func number(_ opcode: PickleOpcode) throws(TensorFileError) -> PickleValue {
        switch opcode {
        case .newTrue: return .bool(true)
        case .newFalse: return .bool(false)
        case .binInt:
            return .integer(Int(Int32(truncatingIfNeeded: try input.number(4))))
        case .binInt1: return .integer(Int(try input.number(1)))
        case .binInt2: return .integer(Int(try input.number(2)))
        case .long1: return try longInteger()
        case .binFloat:
            _ = try input.number(8)
            return .other
        default: return .none
        }
    }

    /// An integer in two's complement, little-endian.
    private mutating func longInteger() throws(TensorFileError) -> PickleValue {
        let bytes = try input.bytes(input.number(1))
        guard bytes.count <= 8 else { return .longInteger(bytes) }
        let fill: UInt64 = bytes.last.map { $0 & 0x80 != 0 } == true ? .max : 0
        return .integer(
            Int(Int64(bitPattern: bytes.reversed().reduce(fill) { $0 << 8 | UInt64($1) })))
    }

    private mutating func text(lengthBytes: UInt64) throws(TensorFileError) -> PickleValue {
        let bytes = try input.bytes(length(lengthBytes))
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw refused("a text is not UTF-8")
        }
        return .text(text)
    }

    private mutating func pushBytes(lengthBytes: UInt64) throws(TensorFileError) {
        try input.discard(length(lengthBytes))
        try push(.other)
    }

    /// The length of a text or of bytes, which the file states.
    private mutating func length(_ lengthBytes: UInt64) throws(TensorFileError) -> UInt64 {
        let length = try input.number(lengthBytes)
        // More than is left is a file that breaks off.
        guard length <= UInt64(Self.longest) || length > UInt64(input.remaining) else {
            throw refused("has a text of \(length) bytes; the limit is \(Self.longest)")
        }
        return length
    }
}

extension Int {
    fileprivate func multipliedClamping(by factor: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}
