import Foundation

/// What `metadata.json` of a compiled model states about its inputs and outputs. All numbers in it
/// are texts.
struct CompiledMetadata: Decodable {
    struct Entry: Decodable {
        let name: String
        let type: String?
        let shortDescription: String?
        let isOptional: String?
        let shape: String?
        let shapeRange: String?
        let enumeratedShapes: String?
        let width: String?
        let height: String?
        let colorspace: String?
        let sizeRange: String?
        let enumeratedSizes: String?
    }

    let inputSchema: [Entry]?
    let outputSchema: [Entry]?
    let stateSchema: [Entry]?
    let shortDescription: String?
    let author: String?
    let license: String?
    let version: String?
    let userDefinedMetadata: [String: String]?

    static let name = "metadata.json"

    /// The first of a file's models.
    static func read(_ bytes: [UInt8]) throws -> CompiledMetadata? {
        do {
            return try JSONDecoder().decode([CompiledMetadata].self, from: Data(bytes)).first
        } catch let error as DecodingError {
            throw BrokenRule(
                name, "it does not describe a model: \(error.rule)",
                "The model is damaged: compile it again.")
        }
    }

    var model: ModelMetadata {
        var result = ModelMetadata()
        result.shortDescription = shortDescription ?? ""
        result.author = author ?? ""
        result.license = license ?? ""
        result.version = version ?? ""
        result.userDefined = userDefinedMetadata ?? [:]
        return result
    }
}

extension CompiledMetadata.Entry {
    /// The feature that a value of the program is, of whose type the entry says what that leaves
    /// open.
    func feature(_ type: MILTensorType) throws -> Feature {
        try require(isOptional != "1", "", "optional inputs are not supported")
        let feature: FeatureType
        switch self.type {
        case "Image": feature = .image(try image(type))
        case "MultiArray", nil: feature = .multiArray(try array(type))
        case .some(let other): throw BrokenRule("", "\(other) is not supported")
        }
        return Feature(name, feature, shortDescription: shortDescription ?? "")
    }

    private func array(_ type: MILTensorType) throws -> ArrayFeature {
        if let fixed = type.shape { return ArrayFeature(type.dataType, fixed) }
        let shape = try shape.map(Self.list) ?? []
        if let enumeratedShapes {
            return ArrayFeature(
                type.dataType, shape, .enumerated(try Self.lists(enumeratedShapes)))
        }
        guard let shapeRange else { return ArrayFeature(type.dataType, shape) }
        return ArrayFeature(type.dataType, shape, .ranges(try Self.ranges(shapeRange)))
    }

    private func image(_ type: MILTensorType) throws -> ImageFeature {
        let spaces: [String: ImageFeature.ColorSpace] = [
            "RGB": .rgb, "BGR": .bgr, "Grayscale": .grayscale,
            "GrayscaleFloat16":
                .grayscaleFloat16, "Grayscale16Half": .grayscaleFloat16,
        ]
        guard let space = spaces[colorspace ?? ""] else {
            throw BrokenRule("", "the color space \"\(colorspace ?? "")\" is not known")
        }
        guard let width = Int(width ?? ""), let height = Int(height ?? ""), width > 0, height > 0
        else { throw BrokenRule("", "the size of an image is missing") }
        var image = ImageFeature(width: width, height: height, colorSpace: space)
        if type.shape != nil { return image }
        if let enumeratedSizes {
            image.flexibility = .enumerated(
                try Self.lists(enumeratedSizes).map { sizes in
                    try require(sizes.count == 2, "", "a size needs width and height")
                    return ImageFeature.Size(width: sizes[0], height: sizes[1])
                })
        } else if let sizeRange {
            let ranges = try Self.ranges(sizeRange)
            try require(ranges.count == 2, "", "sizes need ranges of width and height")
            image.flexibility = .ranges(width: ranges[0], height: ranges[1])
        }
        return image
    }

    private static func list(_ text: String) throws -> [Int] {
        guard let list = try? JSONDecoder().decode([Int].self, from: Data(text.utf8)) else {
            throw BrokenRule("", "\"\(text.prefix(40))\" is not a list of sizes")
        }
        return list
    }

    private static func lists(_ text: String) throws -> [[Int]] {
        guard let lists = try? JSONDecoder().decode([[Int]].self, from: Data(text.utf8)) else {
            throw BrokenRule("", "\"\(text.prefix(40))\" is not a list of shapes")
        }
        return lists
    }

    private static func ranges(_ text: String) throws -> [SizeRange] {
        try lists(text).map { bounds in
            try require(bounds.count == 2, "", "a range needs two bounds")
            return SizeRange(max(bounds[0], 0), bounds[1] < 0 ? nil : bounds[1])
        }
    }
}
