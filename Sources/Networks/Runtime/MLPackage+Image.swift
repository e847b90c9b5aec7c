import RetintArchitectures
import RetintMLPackage

extension MLPackage {
    /// The package with images in place of some tensors for photos.
    ///
    /// - Parameters:
    ///   - names: of the tensors; nil for the only one for photos.
    ///   - range: the range in which the tensors have photos: pixels 0…255 are converted to it.
    /// - Returns: nil if one is not for photos, or for other photos than the range has.
    func takingImages(_ names: [String]?, in range: ValueRange) -> MLPackage? {
        let photos = description.inputs.filter { $0.photos != nil }.map(\.name)
        guard let names = names ?? (photos.count == 1 ? photos : nil) else { return nil }
        var result = self
        for name in names {
            guard let index = description.inputs.firstIndex(where: { $0.name == name }),
                let image = description.inputs[index].photos,
                range != .imageNet || image.colorSpace.channels == 3,
                let place = program.inputs.firstIndex(where: { $0.name == name })
            else { return nil }
            result.description.inputs[index].type = .image(image)
            result.program.convertPixels(
                ofInput: place, to: range, channels: image.colorSpace.channels)
        }
        return result
    }
}

extension MLPackage {
    /// The package with images whose red and blue have changed places, for the same photos and
    /// pictures.
    func reversingColors(ofInputs inputs: [String], _ outputs: [String]) -> MLPackage {
        var result = self
        for index in description.inputs.indices {
            guard inputs.contains(description.inputs[index].name) else { continue }
            result.description.inputs[index].reverseColors()
            result.program.reverseChannels(ofInput: description.inputs[index].name)
        }
        for index in description.outputs.indices {
            guard outputs.contains(description.outputs[index].name) else { continue }
            result.description.outputs[index].reverseColors()
            result.program.reverseChannels(ofOutput: description.outputs[index].name)
        }
        return result
    }
}

extension Feature {
    /// Gives an image of three channels the other order.
    fileprivate mutating func reverseColors() {
        guard case .image(var image) = type else { return }
        image.colorSpace = image.colorSpace == .bgr ? .rgb : .bgr
        type = .image(image)
    }
}

extension MILProgram {
    /// Lets an input have its channels in reverse order, and computes what it had from them.
    fileprivate mutating func reverseChannels(ofInput name: String) {
        guard let input = inputs.first(where: { $0.name == name }) else { return }
        let reversed = unusedName("\(name)_reversed")
        replace(name, by: .name(reversed))
        operations.insert(
            contentsOf: reversal(of: name, as: MILNamedType(reversed, input.type)), at: 0)
    }

    /// Lets an output have its channels in reverse order.
    fileprivate mutating func reverseChannels(ofOutput name: String) {
        guard let type = types[name],
            let producer = operations.firstIndex(where: { operation in
                operation.outputs.contains { $0.name == name }
            })
        else { return }
        let original = unusedName("\(name)_original")
        replace(name, by: .name(original))
        outputs = outputs.map { $0 == original ? name : $0 }
        operations[producer].outputs = operations[producer].outputs.map {
            $0.name == name ? MILNamedType(original, $0.type) : $0
        }
        operations += reversal(of: original, as: MILNamedType(name, type))
    }

    private func unusedName(_ name: String) -> String {
        var names = Set(types.keys)
        return names.insertUnused(name)
    }

    private func reversal(of value: String, as result: MILNamedType) -> [MILOperation] {
        let axes = unusedName("\(value)_axes")
        return [
            MILOperation(constant: axes, .integers([1])),
            MILOperation(
                "reverse", inputs: ["x": [.name(value)], "axes": [.name(axes)]], outputs: [result]),
        ]
    }

    /// Lets an input have pixels 0…255, and computes what it had from them.
    fileprivate mutating func convertPixels(
        ofInput index: Int, to range: ValueRange, channels: Int
    ) {
        let input = inputs[index]
        var names = Set(types.keys)
        let lower = (0..<channels).map { range.value(0, channel: $0, of: channels) }
        let upper = (0..<channels).map { range.value(1, channel: $0, of: channels) }
        let scales = zip(lower, upper).map { ($1 - $0) / 255 }
        let pixels = MILTensorType(.float32, input.type.dimensions)
        var converting: [MILOperation] = []
        func add(_ operation: String, _ type: MILTensorType, _ inputs: [String: MILArgument])
            -> MILArgument
        {
            let name = names.insertUnused("\(input.name)_\(operation)")
            converting.append(
                MILOperation(
                    operation, inputs: inputs.mapValues { [$0] },
                    outputs: [MILNamedType(name, type)]))
            return .name(name)
        }
        func constant(_ value: MILValue) -> MILArgument {
            let name = names.insertUnused("\(input.name)_const")
            converting.append(MILOperation(constant: name, value))
            return .name(name)
        }
        func vector(_ values: [Float]) -> MILArgument {
            constant(.floats(values, shape: [1, channels, 1, 1], as: .float32))
        }
        var value = add("mul", pixels, ["x": .name(input.name), "y": vector(scales)])
        value = add("add", pixels, ["x": value, "y": vector(lower)])
        if input.type.dataType != .float32 {
            let name = constant(.string(input.type.dataType == .float16 ? "fp16" : "fp32"))
            value = add("cast", input.type, ["x": value, "dtype": name])
        }
        replace(input.name, by: value)
        inputs[index] = MILNamedType(input.name, pixels)
        operations.insert(contentsOf: converting, at: 0)
    }

    /// Lets all operations and outputs take another value.
    private mutating func replace(_ name: String, by value: MILArgument) {
        for index in operations.indices {
            operations[index].inputs = operations[index].inputs.mapValues { arguments in
                arguments.map { $0.name == name ? value : $0 }
            }
        }
        outputs = outputs.map { $0 == name ? value.name ?? $0 : $0 }
    }
}

extension Feature {
    /// The image of a tensor for one photo; nil if it is another input.
    fileprivate var photos: ImageFeature? {
        guard case .multiArray(let array) = type,
            [.float16, .float32].contains(array.dataType),
            array.shape.count == 4, array.shape[0] == 1, [1, 3].contains(array.shape[1]),
            let flexibility = array.flexibility.ofImages
        else { return nil }
        return ImageFeature(
            width: array.shape[3], height: array.shape[2],
            colorSpace: array.shape[1] == 3 ? .rgb : .grayscale,
            flexibility: flexibility)
    }
}

extension ArrayFeature.Flexibility {
    /// That of the height and the width; nil without four dimensions.
    fileprivate var ofImages: ImageFeature.Flexibility? {
        switch self {
        case .fixed: return .fixed
        case .enumerated(let shapes):
            guard shapes.allSatisfy({ $0.count == 4 }) else { return nil }
            return .enumerated(shapes.map { ImageFeature.Size(width: $0[3], height: $0[2]) })
        case .ranges(let ranges):
            return ranges.count == 4 ? .ranges(width: ranges[3], height: ranges[2]) : nil
        }
    }
}
