import RetintCoreMLProto

extension ModelDescription {
    init(_ proto: ProtoModelDescription) throws {
        try requireNoState(proto.state.isEmpty)
        try require(
            proto.trainingInput.isEmpty, "", "training inputs are not supported",
            "Convert the network again, without them.")
        inputs = try proto.input.map(Feature.init)
        outputs = try proto.output.map(Feature.init)
        metadata = ModelMetadata(proto.metadata)
    }
}

extension ModelMetadata {
    package init(_ proto: ProtoMetadata) {
        shortDescription = proto.shortDescription
        author = proto.author
        license = proto.license
        version = proto.versionString
        userDefined = proto.userDefined
    }
}

extension Feature {
    package init(_ proto: ProtoFeatureDescription) throws {
        name = proto.name
        shortDescription = proto.shortDescription
        type = try at("feature \"\(proto.name)\"") { try FeatureType(proto.type) }
    }
}

extension FeatureType {
    init(_ proto: ProtoFeatureType) throws {
        try require(
            !proto.isOptional, "", "optional inputs are not supported",
            "Convert the network again, with an input that is always given.")
        switch proto.type {
        case .imageType(let image): self = .image(try ImageFeature(image))
        case .multiArrayType(let array): self = .multiArray(try ArrayFeature(array))
        default:
            throw BrokenRule(
                "", "only multi-arrays and images are supported",
                "Convert the network again, with such inputs and outputs.")
        }
    }
}

/// Refuses a model that keeps values between predictions (`MLState`, `coremltools.StateType`).
func requireNoState(_ isEmpty: Bool, _ place: String = "") throws {
    try require(
        isEmpty, place, "models with a state are not supported",
        "Convert the network again, with the state as another input and output.")
}

extension ArrayFeature {
    init(_ proto: ProtoArrayFeatureType) throws {
        guard let dataType = MILDataType(proto.dataType) else {
            throw BrokenRule("", "the array type number \(proto.dataType.rawValue) is not known")
        }
        self.dataType = dataType
        shape = try proto.shape.map(Self.size)
        switch proto.shapeFlexibility {
        case nil: flexibility = .fixed
        case .enumeratedShapes(let list):
            flexibility = .enumerated(try list.shapes.map { try $0.shape.map(Self.size) })
        case .shapeRange(let list):
            flexibility = .ranges(try list.sizeRanges.map(SizeRange.init))
        }
    }

    private static func size(_ number: Int64) throws -> Int {
        try require(number > 0, "", "sizes have to be above zero")
        return Int(number)
    }
}

extension ImageFeature {
    init(_ proto: ProtoImageFeatureType) throws {
        guard let colorSpace = ColorSpace(rawValue: proto.colorSpace.rawValue) else {
            throw BrokenRule("", "the color space number \(proto.colorSpace.rawValue) is not known")
        }
        self.colorSpace = colorSpace
        width = Int(proto.width)
        height = Int(proto.height)
        switch proto.sizeFlexibility {
        case nil: flexibility = .fixed
        case .enumeratedSizes(let list): flexibility = .enumerated(try list.sizes.map(Size.init))
        case .imageSizeRange(let range):
            flexibility = .ranges(
                width: try SizeRange(range.widthRange), height: try SizeRange(range.heightRange))
        }
    }
}

extension ImageFeature.Size {
    init(_ proto: ProtoImageFeatureType.ImageSize) throws {
        guard let width = Int(exactly: proto.width), let height = Int(exactly: proto.height) else {
            throw BrokenRule("", "an image size is too large")
        }
        self.init(width: width, height: height)
    }
}

extension SizeRange {
    init(_ proto: ProtoSizeRange) throws {
        guard let lower = Int(exactly: proto.lowerBound) else {
            throw BrokenRule("", "a lower bound of \(proto.lowerBound) is too large")
        }
        self.init(lower, proto.upperBound < 0 ? nil : Int(proto.upperBound))
    }
}

extension MILDataType {
    /// The type that a number of the interface means.
    init?(_ proto: ProtoArrayFeatureType.ArrayDataType) {
        switch proto {
        case .float32: self = .float32
        case .float16: self = .float16
        case .double: self = .float64
        case .int32: self = .int32
        case .int8: self = .int8
        default: return nil
        }
    }
}
