/// A program in MIL's text form, `model.mil` of a compiled model.
struct MILText {
    /// A function of a program.
    struct Function {
        let name: String
        /// The operation set, such as `ios16`.
        let opset: String
        let program: MILProgram
    }

    private(set) var functions: [Function] = []
    private var tokens: MILTokens
    private let weights: WeightFiles

    /// More operations than any model has.
    private static let maximumOperations = 1 << 18
    private static let maximumDepth = 32

    init(_ bytes: [UInt8], weights: WeightFiles) throws {
        tokens = try MILTokens(bytes)
        self.weights = weights
        try readProgram()
    }

    private mutating func readProgram() throws {
        try tokens.expect(word: "program")
        try tokens.expect("(")
        let version = try tokens.word()
        guard version.hasPrefix("1.") else {
            throw tokens.error("its version has to be 1, not \(version)")
        }
        try tokens.expect(")")
        if tokens.next == .sign(UInt8(ascii: "[")) { try tokens.skipBrackets() }
        try tokens.expect("{")
        while try !tokens.takes("}") {
            try tokens.expect(word: "func")
            functions.append(try function())
        }
    }

    private mutating func function() throws -> Function {
        let name = try tokens.word()
        try tokens.expect("<")
        let opset = try tokens.word()
        try tokens.expect(">(")
        var program = MILProgram()
        while try !tokens.takes(")") {
            let type = try type()
            program.inputs.append(MILNamedType(try tokens.word(), type))
            _ = try tokens.takes(",")
        }
        if tokens.next == .sign(UInt8(ascii: "[")) { try tokens.skipBrackets() }
        try tokens.expect("{")
        while try !tokens.takes("}") {
            guard program.operations.count < Self.maximumOperations else {
                throw tokens.error("more than \(Self.maximumOperations) operations are not read")
            }
            program.operations.append(try operation())
        }
        try tokens.expect("->(")
        while try !tokens.takes(")") {
            program.outputs.append(try tokens.word())
            _ = try tokens.takes(",")
        }
        _ = try tokens.takes(";")
        return Function(name: name, opset: opset, program: program)
    }

    /// `tensor<fp16, [1, 8]> y = relu(x = x)[name = string("y")];`
    private mutating func operation() throws -> MILOperation {
        var outputs: [MILNamedType] = []
        repeat {
            let type = try type()
            outputs.append(MILNamedType(try tokens.word(), type))
        } while try tokens.takes(",")
        try tokens.expect("=")
        let type = try tokens.word()
        var inputs: [String: [MILArgument]] = [:]
        try tokens.expect("(")
        while try !tokens.takes(")") {
            let parameter = try tokens.word()
            try tokens.expect("=")
            inputs[parameter] = try arguments()
            _ = try tokens.takes(",")
        }
        var attributes = try attributes()
        guard try tokens.takes(";") else {
            throw BrokenRule(
                "line \(tokens.line)", "operations with control flow (\(type)) are not supported",
                "Convert the network with its loops unrolled, or an ONNX file of it.")
        }
        let stated = attributes.removeValue(forKey: "name")?.content
        var name = outputs.first?.name
        if case .strings(let texts)? = stated, let text = texts.first {
            name = MILNames.legal(text)
        }
        return MILOperation(
            type, name: name, inputs: inputs, outputs: outputs, attributes: attributes)
    }

    private mutating func attributes() throws -> [String: MILValue] {
        var attributes: [String: MILValue] = [:]
        guard try tokens.takes("[") else { return attributes }
        while try !tokens.takes("]") {
            let name = try tokens.word()
            try tokens.expect("=")
            let type = try type()
            attributes[name] = try value(type)
            _ = try tokens.takes(",")
        }
        return attributes
    }

    /// A name, a value, or a list of both.
    private mutating func arguments() throws -> [MILArgument] {
        guard try tokens.takes("(") else { return [try argument()] }
        var arguments: [MILArgument] = []
        while try !tokens.takes(")") {
            arguments.append(try argument())
            _ = try tokens.takes(",")
        }
        return arguments
    }

    private mutating func argument() throws -> MILArgument {
        let word = try tokens.word()
        switch tokens.next {
        case .sign(UInt8(ascii: "<")), .sign(UInt8(ascii: "(")):
            let type = try type(word)
            return .value(try value(type))
        default: return .name(word)
        }
    }
}

// MARK: Types and values

extension MILText {
    /// `tensor<fp16, [1, ?, 8]>`, or a scalar's `int32`.
    private mutating func type(_ taken: String? = nil) throws -> MILTensorType {
        let word = try taken ?? tokens.word()
        guard word == "tensor" else {
            guard let dataType = MILDataType(named: word) else {
                throw tokens.error("only tensors are supported, not \(word)")
            }
            return MILTensorType(dataType)
        }
        try tokens.expect("<")
        let name = try tokens.word()
        guard let dataType = MILDataType(named: name) else {
            throw tokens.error("the type \(name) is not known")
        }
        try tokens.expect(",[")
        var dimensions: [Int?] = []
        while try !tokens.takes("]") {
            if try tokens.takes("?") {
                dimensions.append(nil)
            } else {
                let number = try tokens.word()
                guard let size = Int(number), size >= 0 else {
                    throw tokens.error("\(number) is not a size")
                }
                dimensions.append(size)
            }
            guard dimensions.count <= MILTensorType.maximumRank else {
                throw tokens.error("a rank above \(MILTensorType.maximumRank) is not supported")
            }
            _ = try tokens.takes(",")
        }
        try tokens.expect(">")
        return MILTensorType(dataType, dimensions)
    }

    /// What follows a type: `([1, 2])`, `("text")`, or a place in the weight file.
    private mutating func value(_ type: MILTensorType) throws -> MILValue {
        try tokens.expect("(")
        if tokens.next == .word("BLOBFILE") {
            let value = try blob(type)
            try tokens.expect(")")
            return value
        }
        guard let count = type.elementCount else {
            throw tokens.error("a constant of type \(type) needs known dimensions")
        }
        var elements: [MILTokens.Token] = []
        var depth = 0
        while true {
            if try tokens.takes("[") {
                depth += 1
            } else if try tokens.takes("]") {
                depth -= 1
            } else if try depth == 0 && tokens.takes(")") {
                break
            } else if try !tokens.takes(",") {
                switch tokens.next {
                case .word, .text: elements.append(try tokens.take())
                default: throw tokens.error("an element is expected instead of \(tokens.next)")
                }
            }
            guard elements.count <= count, (0...Self.maximumDepth).contains(depth) else {
                throw tokens.error("the elements of a constant do not fit \(type)")
            }
        }
        guard elements.count == count else {
            throw tokens.error("\(elements.count) elements do not fit \(type)")
        }
        return MILValue(type: type, content: try content(elements, type.dataType))
    }

    /// `BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64))`
    private mutating func blob(_ type: MILTensorType) throws -> MILValue {
        try tokens.expect(word: "BLOBFILE")
        try tokens.expect("(")
        guard case .text(let path) = try scalar("path") else {
            throw tokens.error("the path of a BLOBFILE has to be a text")
        }
        try tokens.expect(",")
        let offset = try integer(try scalar("offset"), UInt64.self)
        try tokens.expect(")")
        let blob = try weights.blob(file: path, offset: offset, type: type)
        return MILValue(type: type, content: .blob(blob))
    }

    /// The element of a scalar parameter with a type.
    private mutating func scalar(_ parameter: String) throws -> MILTokens.Token {
        try tokens.expect(word: parameter)
        try tokens.expect("=")
        _ = try type()
        try tokens.expect("(")
        let element = try tokens.take()
        try tokens.expect(")")
        return element
    }

    private func content(
        _ elements: [MILTokens.Token], _ type: MILDataType
    ) throws -> MILValue.Content {
        switch type.form {
        case .floats: return .floats(try elements.map { Float(try number($0)) })
        case .halfs:
            return .halfs(HalfPrecision.halfs(try elements.map { Float(try number($0)) }))
        case .doubles: return .doubles(try elements.map(number))
        case .integers:
            return .integers(try elements.map { try integer($0, Int32.self) })
        case .longIntegers: return .longIntegers(try elements.map { try integer($0, Int64.self) })
        case .bools:
            return .bools(
                try elements.map { element in
                    guard element == .word("true") || element == .word("false") else {
                        throw tokens.error("true or false is expected")
                    }
                    return element == .word("true")
                })
        case .strings:
            return .strings(
                try elements.map { element in
                    guard case .text(let text) = element else {
                        throw tokens.error("a text is expected")
                    }
                    return text
                })
        case .bytes: return try bytes(elements, type)
        }
    }

    private func bytes(
        _ elements: [MILTokens.Token], _ type: MILDataType
    ) throws -> MILValue.Content {
        switch type {
        case .int8:
            return .bytes(try elements.map { UInt8(bitPattern: try integer($0, Int8.self)) })
        case .uint8: return .bytes(try elements.map { try integer($0, UInt8.self) })
        case .uint32:
            return .bytes(LittleEndian.bytes(try elements.map { try integer($0, UInt32.self) }))
        case _ where type.isInteger && type.isPacked:
            return .bytes(
                BitPacking.pack(
                    try elements.map { try integer($0, Int32.self) }, bits: type.bitWidth ?? 8))
        default: throw tokens.error("elements of type \(type) are not read")
        }
    }

    private func number(_ token: MILTokens.Token) throws -> Double {
        guard case .word(let word) = token, let number = Double(word) else {
            throw tokens.error("a number is expected instead of \(token)")
        }
        return number
    }

    private func integer<Number: FixedWidthInteger>(
        _ token: MILTokens.Token, _ type: Number.Type
    ) throws -> Number {
        guard case .word(let word) = token, let number = Number(word) else {
            throw tokens.error("\(token) is not an integer of the type")
        }
        return number
    }
}

extension MILDataType {
    private static let named = Dictionary(uniqueKeysWithValues: allCases.map { ("\($0)", $0) })

    /// The type of a name in MIL's text form.
    fileprivate init?(named name: String) {
        guard let type = Self.named[name] else { return nil }
        self = type
    }
}
