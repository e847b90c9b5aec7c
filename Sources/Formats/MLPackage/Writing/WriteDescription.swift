import RetintCoreMLProto

extension ProtoModelDescription {
    init(_ description: ModelDescription) {
        self.init()
        input = description.inputs.map(ProtoFeatureDescription.init)
        output = description.outputs.map(ProtoFeatureDescription.init)
        metadata = ProtoMetadata(description.metadata)
    }
}

extension ProtoModelDescription {
    /// The description of several functions, the first of which is the default.
    init(_ functions: [(name: String, package: MLPackage)]) {
        self.init()
        self.functions = functions.map { name, package in
            var function = ProtoFunctionDescription()
            function.name = name
            function.input = package.description.inputs.map(ProtoFeatureDescription.init)
            function.output = package.description.outputs.map(ProtoFeatureDescription.init)
            return function
        }
        defaultFunctionName = functions[0].name
        metadata = ProtoMetadata(.merged(functions.map { ($0.name, $0.package.metadata) }))
    }
}

extension ProtoMetadata {
    init(_ metadata: ModelMetadata) {
        self.init()
        shortDescription = metadata.shortDescription
        author = metadata.author
        license = metadata.license
        versionString = metadata.version
        userDefined = metadata.userDefined
    }
}

extension ProtoFeatureDescription {
    init(_ feature: Feature) {
        self.init()
        name = feature.name
        shortDescription = feature.shortDescription
        switch feature.type {
        case .multiArray(let array): type.multiArrayType = ProtoArrayFeatureType(array)
        case .image(let image): type.imageType = ProtoImageFeatureType(image)
        }
    }
}

extension ProtoArrayFeatureType {
    init(_ array: ArrayFeature) {
        self.init()
        shape = array.shape.map(Int64.init)
        dataType = ArrayDataType(array.dataType)
        switch array.flexibility {
        case .fixed: break
        case .enumerated(let shapes):
            enumeratedShapes.shapes = shapes.map { sizes in
                var shape = Shape()
                shape.shape = sizes.map(Int64.init)
                return shape
            }
        case .ranges(let ranges): shapeRange.sizeRanges = ranges.map(ProtoSizeRange.init)
        }
    }
}

extension ProtoImageFeatureType {
    init(_ image: ImageFeature) {
        self.init()
        width = Int64(image.width)
        height = Int64(image.height)
        colorSpace = ColorSpace(rawValue: image.colorSpace.rawValue) ?? .invalidColorSpace
        switch image.flexibility {
        case .fixed: break
        case .enumerated(let sizes): enumeratedSizes.sizes = sizes.map(ImageSize.init)
        case .ranges(let width, let height):
            imageSizeRange.widthRange = ProtoSizeRange(width)
            imageSizeRange.heightRange = ProtoSizeRange(height)
        }
    }
}

extension ProtoImageFeatureType.ImageSize {
    init(_ size: ImageFeature.Size) {
        self.init()
        width = UInt64(size.width)
        height = UInt64(size.height)
    }
}

extension ProtoSizeRange {
    init(_ range: SizeRange) {
        self.init()
        lowerBound = UInt64(max(range.lower, 0))
        upperBound = range.upper.map(Int64.init) ?? -1
    }
}

extension ProtoArrayFeatureType.ArrayDataType {
    init(_ dataType: MILDataType) {
        switch dataType {
        case .float32: self = .float32
        case .float16: self = .float16
        case .float64: self = .double
        case .int32: self = .int32
        case .int8: self = .int8
        default: self = .invalidArrayDataType
        }
    }
}
