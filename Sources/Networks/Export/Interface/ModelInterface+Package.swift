import RetintArchitectures
import RetintMIL
import RetintMLPackage
import RetintTensors

extension ModelInterface {
    /// The interface that a package states.
    ///
    /// - Throws: ``ConversionError`` for invalid metadata.
    package init(_ package: MLPackage) throws {
        try self.init(package, StatedNormalization(package))
    }

    /// - Parameter model: the package raised for some shapes, which are then known for sure.
    init(
        _ package: MLPackage, _ normalization: StatedNormalization, _ model: RaisedModel? = nil
    ) {
        let (program, types) = (package.program, package.program.types)
        self.init(
            inputs: program.inputs.map { input in
                let feature = package.description.inputs.first { $0.name == input.name }
                return Value(feature, input.name, input.type, normalization)
            },
            outputs: program.outputs.map { name in
                let feature = package.description.outputs.first { $0.name == name }
                return Value(feature, name, types[name], normalization)
            })
        let givenShapes: [[Int?]]? = model?.inputs.map { $0.shape.dimensions }
        let resultShapes: [[Int?]]? = model?.outputs.map { $0.value.shape.dimensions }
        // A network with its own ranges takes no lightness in 0…100, or returns no a and b.
        let form = ColorForm(metadata: package.description.metadata.userDefined)
        if let form, form.normalization == nil { return }
        let isColorizer = assignRoles(
            inputs: givenShapes ?? inputs.map(\.shapes.standard),
            outputs: resultShapes ?? outputs.map(\.shapes.standard))
        guard isColorizer else { return }
        inputs[0].scaling = normalization.lightness
        for index in outputs.indices { outputs[index].scaling = normalization.colors }
    }
}

extension ModelInterface.Value {
    /// - Parameters:
    ///   - feature: the model's side of the value.
    ///   - type: the program's side; nil if the program does not state it.
    fileprivate init(
        _ feature: Feature?, _ name: String, _ type: MILTensorType?,
        _ normalization: StatedNormalization
    ) {
        let stated = feature?.type.defaultShape ?? []
        let standard = type?.shape ?? (stated.isEmpty ? type?.dimensions ?? [] : stated)
        self.init(
            name: name,
            shapes: .init(
                standard, .init(feature?.type, multiple: normalization.sizeMultiple ?? 1)),
            elementType: (type ?? feature?.type.tensorType).flatMap { .init($0.dataType) },
            colorLayout: feature.flatMap { .init($0.type) })
    }
}

extension ModelInterface.ColorLayout {
    fileprivate init?(_ type: FeatureType) {
        guard case .image(let image) = type else { return nil }
        switch image.colorSpace {
        case .grayscale, .grayscaleFloat16: self = .grayscale
        case .rgb: self = .rgb
        case .bgr: self = .bgr
        }
    }
}

extension ModelInterface.Flexibility {
    /// - Parameter multiple: of heights and widths in ranges.
    fileprivate init(_ type: FeatureType?, multiple: Int) {
        guard let type, type.isFlexible else {
            self = .fixed
            return
        }
        if let shapes = type.listedShapes {
            self = .enumerated(shapes: shapes)
            return
        }
        let bounds = type.sizeBounds
        self = .ranges(
            extents: bounds.enumerated().map { axis, range in
                let isSide = bounds.count == 4 && axis >= 2
                return .init(
                    from: range.lower, to: range.upper, multiple: isSide ? multiple : 1)
            })
    }
}

extension ModelInterface.ElementType {
    /// Nil for strings and for elements of fewer than four bits, which no input or output has.
    fileprivate init?(_ type: MILDataType) {
        let known: [MILDataType: Self] = [
            .bool: .bool, .float16: .float16, .bfloat16: .bfloat16, .float32: .float32,
            .float64: .float64, .int4: .int4, .int8: .int8, .int16: .int16, .int32: .int32,
            .int64: .int64, .uint4: .uint4, .uint8: .uint8, .uint16: .uint16, .uint32: .uint32,
            .uint64: .uint64,
        ]
        guard let element = known[type] else { return nil }
        self = element
    }
}
