/// Encodes a module. Equal modules give equal bytes.
package struct BytecodeWriter {
    /// The length of a resource, whose bytes the caller adds.
    package struct Resource {
        let key: String
        let byteCount: Int

        package init(_ key: String, byteCount: Int) {
            (self.key, self.byteCount) = (key, byteCount)
        }
    }

    private var module: BytecodeModule
    private var strings: [String: Int]

    /// - Parameter module: Its encodings and resources belong to its first dialect.
    package init(_ module: BytecodeModule) {
        self.module = module
        strings = Dictionary(
            zip(module.strings, module.strings.indices), uniquingKeysWith: { first, _ in first })
    }

    /// Calls `write` with the bytes of the file, part by part, and `resource` where the bytes of a
    /// resource belong.
    ///
    /// - Parameter alignment: That of resources, a power of two.
    package mutating func write(
        _ resources: [Resource], alignment: Int, to write: ([UInt8]) throws -> Void,
        resource: (Int) throws -> Void
    ) throws {
        let heads = Self.heads(of: resources, alignment)
        let lengths = zip(heads, resources).map { $0.bytes.count + $1.byteCount }
        let resourceOffsets = resourceOffsets(resources, lengths)
        let dialects = dialects()
        var start = header()
        start.append(section: .dialects, dialects)
        start.append(section: .encodingOffsets, encodingOffsets())
        start.append(section: .encodings, encodings())
        start.append(section: .operations, operations())
        start.append(section: .resourceOffsets, resourceOffsets)
        start.append(alignedSection: .resources, alignment, byteCount: lengths.reduce(0, +))
        try write(start.bytes)
        for (index, head) in heads.enumerated() {
            try write(head.bytes)
            try resource(index)
        }
        var end = ByteBuffer()
        end.append(section: .strings, stringTable())
        end.append(section: .properties, properties())
        try write(end.bytes)
    }

    private func header() -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.append(BytecodeSections.magic)
        buffer.append(unsigned: BytecodeSections.version)
        buffer.append(module.producer.utf8)
        buffer.append(byte: 0)
        return buffer
    }

    private mutating func index(of string: String) -> Int {
        if let index = strings[string] { return index }
        module.strings.append(string)
        strings[string] = module.strings.count - 1
        return module.strings.count - 1
    }

    private mutating func dialects() -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.append(module.dialects.count)
        for dialect in module.dialects {
            buffer.append(index(of: dialect.name) << 1 | (dialect.version == nil ? 0 : 1))
            guard let version = dialect.version else { continue }
            var content = ByteBuffer()
            content.append(version)
            buffer.append(section: .dialectVersions, content)
        }
        buffer.append(module.operationNames.count)
        for dialect in module.dialects.indices {
            let names = module.operationNames.filter { $0.dialect == dialect }
            buffer.append(dialect)
            buffer.append(names.count)
            // The low bit: the dialect knows the operation.
            for name in names { buffer.append(index(of: name.name) << 1 | 1) }
        }
        return buffer
    }

    private func encodingOffsets() -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.append(module.attributes.count)
        buffer.append(module.types.count)
        for group in [module.attributes, module.types] {
            buffer.append(0)
            buffer.append(group.count)
            for encoding in group {
                buffer.append(encoding.bytes.count << 1 | (encoding.isCustom ? 1 : 0))
            }
        }
        return buffer
    }

    private func encodings() -> ByteBuffer {
        var buffer = ByteBuffer()
        for encoding in module.attributes + module.types { buffer.append(encoding.bytes) }
        return buffer
    }

    private func properties() -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.append(module.properties.count)
        for encoding in module.properties {
            buffer.append(encoding.bytes.count)
            buffer.append(encoding.bytes)
        }
        return buffer
    }

    private func stringTable() -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.append(module.strings.count)
        for string in module.strings.reversed() { buffer.append(string.utf8.count + 1) }
        for string in module.strings {
            buffer.append(string.utf8)
            buffer.append(byte: 0)
        }
        return buffer
    }
}

extension BytecodeWriter {
    /// The header of each resource: its alignment, its length and padding.
    private static func heads(of resources: [Resource], _ alignment: Int) -> [ByteBuffer] {
        var position = 0
        return resources.map { resource in
            var head = ByteBuffer()
            head.append(alignment)
            head.append(resource.byteCount)
            head.pad(to: alignment, after: position)
            position += head.bytes.count + resource.byteCount
            return head
        }
    }

    private mutating func resourceOffsets(
        _ resources: [Resource], _ lengths: [Int]
    ) -> ByteBuffer {
        var buffer = ByteBuffer()
        // Resources of other programs than dialects.
        buffer.append(0)
        guard !resources.isEmpty else { return buffer }
        buffer.append(0)
        buffer.append(resources.count)
        for (resource, length) in zip(resources, lengths) {
            buffer.append(index(of: resource.key))
            buffer.append(length)
            buffer.append(byte: 0)
        }
        return buffer
    }
}

/// Operations.
extension BytecodeWriter {
    private func operations() -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.append(module.body.count << 1)
        for operation in module.body { append(operation, to: &buffer) }
        return buffer
    }

    private func append(_ operation: BytecodeOperation, to buffer: inout ByteBuffer) {
        buffer.append(operation.name)
        buffer.append(byte: operation.parts)
        buffer.append(operation.location)
        if let attributes = operation.attributes { buffer.append(attributes) }
        if let properties = operation.properties { buffer.append(properties) }
        if !operation.resultTypes.isEmpty { buffer.append(list: operation.resultTypes) }
        if !operation.operands.isEmpty { buffer.append(list: operation.operands) }
        guard !operation.regions.isEmpty else { return }
        buffer.append(operation.regions.count << 1 | 1)
        for region in operation.regions {
            var content = ByteBuffer()
            append(region, to: &content)
            buffer.append(section: .operations, content)
        }
    }

    private func append(_ region: BytecodeRegion, to buffer: inout ByteBuffer) {
        let results = region.operations.reduce(0) { $0 + $1.resultTypes.count }
        buffer.append(1)
        buffer.append(region.argumentTypes.count + results)
        let hasArguments = !region.argumentTypes.isEmpty
        buffer.append(region.operations.count << 1 | (hasArguments ? 1 : 0))
        if hasArguments {
            buffer.append(region.argumentTypes.count)
            for (type, location) in zip(region.argumentTypes, region.argumentLocations) {
                buffer.append(type << 1 | (location == nil ? 0 : 1))
                if let location { buffer.append(location) }
            }
            // No orders of uses.
            buffer.append(byte: 0)
        }
        for operation in region.operations { append(operation, to: &buffer) }
    }
}

extension ByteBuffer {
    fileprivate mutating func append(section kind: BytecodeSections.Kind, _ content: ByteBuffer) {
        append(byte: UInt8(kind.rawValue))
        append(content.bytes.count)
        append(content.bytes)
    }

    /// The start of a section whose content follows at a multiple of the alignment.
    fileprivate mutating func append(
        alignedSection kind: BytecodeSections.Kind, _ alignment: Int, byteCount: Int
    ) {
        append(byte: UInt8(kind.rawValue) | 0x80)
        append(byteCount)
        append(alignment)
        pad(to: alignment)
    }
}
