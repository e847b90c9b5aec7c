/// The interface of a model: its inputs, its outputs and the author's metadata.
package struct ModelDescription: Hashable, Sendable {
    package var inputs: [Feature]
    package var outputs: [Feature]
    package var metadata: ModelMetadata
    /// The labels of a classifier; nil for other models.
    package var classifier: Classifier?

    package init(
        inputs: [Feature], outputs: [Feature], metadata: ModelMetadata = ModelMetadata()
    ) {
        self.inputs = inputs
        self.outputs = outputs
        self.metadata = metadata
    }
}

/// The author's information about a model. All fields are free text and may be empty.
public struct ModelMetadata: Hashable, Sendable {
    /// The description of the model.
    package var shortDescription = ""
    /// Who made it.
    package var author = ""
    /// The terms of use.
    package var license = ""
    /// The version of the model, not of the format.
    package var version = ""
    /// Further texts by key; retint's own keys start with `retint.`.
    package var userDefined: [String: String] = [:]

    /// Empty metadata.
    package init() {}
}

/// An input or an output.
package struct Feature: Hashable, Sendable {
    package var name: String
    package var shortDescription: String
    package var type: FeatureType

    package init(_ name: String, _ type: FeatureType, shortDescription: String = "") {
        self.name = name
        self.type = type
        self.shortDescription = shortDescription
    }
}

package enum FeatureType: Hashable, Sendable {
    case multiArray(ArrayFeature)
    case image(ImageFeature)
}

/// A multi-array. An output may leave its shape empty.
package struct ArrayFeature: Hashable, Sendable {
    package var dataType: MILDataType
    /// The shape, or the default one where others are allowed too.
    package var shape: [Int]
    package var flexibility: Flexibility

    package enum Flexibility: Hashable, Sendable {
        case fixed
        /// One of these shapes.
        case enumerated([[Int]])
        /// A range for each dimension.
        case ranges([SizeRange])
    }

    package init(_ dataType: MILDataType, _ shape: [Int], _ flexibility: Flexibility = .fixed) {
        self.dataType = dataType
        self.shape = shape
        self.flexibility = flexibility
    }
}

/// An image; the program sees it as 1×C×H×W with values 0…255.
package struct ImageFeature: Hashable, Sendable {
    package var width: Int
    package var height: Int
    package var colorSpace: ColorSpace
    package var flexibility: Flexibility

    package enum ColorSpace: Int, Hashable, Sendable {
        case grayscale = 10
        case rgb = 20
        case bgr = 30
        case grayscaleFloat16 = 40

        package var channels: Int { self == .rgb || self == .bgr ? 3 : 1 }
    }

    package enum Flexibility: Hashable, Sendable {
        case fixed
        case enumerated([Size])
        case ranges(width: SizeRange, height: SizeRange)
    }

    package struct Size: Hashable, Sendable {
        package var width: Int
        package var height: Int

        package init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    package init(
        width: Int, height: Int, colorSpace: ColorSpace, flexibility: Flexibility = .fixed
    ) {
        self.width = width
        self.height = height
        self.colorSpace = colorSpace
        self.flexibility = flexibility
    }
}

/// Sizes from `lower` to `upper`, both included; without an upper bound, all from `lower` on.
package struct SizeRange: Hashable, Sendable {
    package var lower: Int
    package var upper: Int?

    package init(_ lower: Int, _ upper: Int?) {
        self.lower = lower
        self.upper = upper
    }
}

extension FeatureType {
    /// The required type in the program for the feature; a dimension is unknown if sizes vary.
    package var tensorType: MILTensorType {
        switch self {
        case .multiArray(let array):
            let isFixed = array.flexibility == .fixed
            return MILTensorType(array.dataType, array.shape.map { isFixed ? $0 : nil })
        case .image(let image):
            let isFixed = image.flexibility == .fixed
            let size = [image.height, image.width].map { isFixed ? $0 : nil }
            let dataType = image.colorSpace == .grayscaleFloat16 ? MILDataType.float16 : .float32
            return MILTensorType(dataType, [1, image.colorSpace.channels] + size)
        }
    }
}
