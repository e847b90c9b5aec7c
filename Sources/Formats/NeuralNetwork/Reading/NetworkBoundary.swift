import RetintCoreMLProto
import RetintMIL
import RetintMLPackage

/// What happens between a network's inputs and outputs and its layers.
extension ReadLayer {
    /// A stand-in for the layer that an input or an output is not.
    init(boundary role: String, _ name: String, _ reader: NetworkReader) {
        var proto = ProtoNeuralNetworkLayer()
        proto.name = name
        self.init(proto, kind: role, place: "\(role) \"\(name)\"", reader)
    }

    /// An input of the program as the layers take it.
    func value(of input: NetworkInterface.Input, _ size: [Int]) throws -> LayerValue {
        let type = input.feature.type.tensorType.dataType
        let given = try self.input(input.feature.name, type, size)
        if case .image(let image) = input.feature.type {
            let pixels = type == .float32 ? given : try cast(given, to: .float32)
            let prepared = try input.preprocessing.reduce(pixels) {
                try preprocessed($0, $1, image.colorSpace)
            }
            return input.isExact
                ? LayerValue(prepared) : LayerValue(images: prepared, [1] + prepared.shape)
        }
        guard input.preprocessing.isEmpty else {
            throw error("preprocessing of arrays is not supported")
        }
        let array = type == .float32 ? given : try cast(given, to: .float32)
        if input.isExact { return LayerValue(array) }
        switch size.count {
        case 1:
            return LayerValue(images: try expanded(array, [0, 2, 3]), [1, 1, size[0], 1, 1])
        case 3: return LayerValue(images: try expanded(array, [0]), [1, 1] + size)
        case 5: return LayerValue(array)
        default: throw error("an array of \(size.count) axes has to be [C] or [C, H, W]")
        }
    }

    /// scale · x + bias, or x less a mean image.
    private func preprocessed(
        _ x: Blob, _ proto: ProtoNeuralNetworkPreprocessing, _ colors: ImageFeature.ColorSpace
    ) throws -> Blob {
        switch proto.preprocessor {
        case .scaler(let scaler):
            let scaled =
                scaler.channelScale == 1 ? x : try combined("mul", x, scaler.channelScale)
            let rgb = [scaler.redBias, scaler.greenBias, scaler.blueBias]
            let biases: [Float] =
                switch colors {
                case .rgb: rgb
                case .bgr: rgb.reversed()
                case .grayscale, .grayscaleFloat16: [scaler.grayBias]
                }
            guard biases.contains(where: { $0 != 0 }) else { return scaled }
            return try combined("add", scaled, floats(biases, [1, biases.count, 1, 1]))
        case .meanImage(let mean):
            guard let count = Array(x.shape.dropFirst()).product, count == mean.meanImage.count
            else {
                throw error(
                    "a mean image of \(mean.meanImage.count) elements does not fit \(x.shape)")
            }
            return try combined("sub", x, floats(mean.meanImage, x.shape))
        case nil: throw error("the preprocessing is of an unknown kind")
        }
    }

    /// A value as an output of the program, with its type.
    func result(
        _ value: LayerValue, as type: FeatureType, _ network: ProtoNeuralNetwork
    ) throws -> (Blob, FeatureType) {
        switch type {
        case .image(var image):
            let images = try images(value)
            guard Array(images.shape.prefix(2)) == [1, image.colorSpace.channels] else {
                throw error("an image cannot be made of a value of \(value.shape)")
            }
            (image.height, image.width) = (images.shape[2], images.shape[3])
            image.flexibility = .fixed
            let isHalf = image.colorSpace == .grayscaleFloat16
            return (isHalf ? try cast(images, to: .float16) : images, .image(image))
        case .multiArray(let array):
            let isExact = network.arrayInputShapeMapping == .exactArray
            let blob =
                isExact || value.shape.count != 5
                ? try exact(value)
                : try array.shape.isEmpty
                    ? unstated(value) : stated(value, array.shape)
            let result = array.dataType == .int32 ? try cast(blob, to: .int32) : blob
            return (result, .multiArray(ArrayFeature(array.dataType, result.shape)))
        }
    }

    /// Five axes as the array that an input of the same extents would be.
    private func unstated(_ value: LayerValue) throws -> Blob {
        guard value.leading == [1, 1] else { return try exact(value) }
        let images = try images(value)
        return value.shape.suffix(2) == [1, 1]
            ? try squeezed(images, [0, 2, 3]) : try squeezed(images, [0])
    }

    /// Five axes as an array of a stated shape, if that has as many elements.
    private func stated(_ value: LayerValue, _ shape: [Int]) throws -> Blob {
        let own = value.shape
        guard shape != own else { return try exact(value) }
        guard shape.product == own.product else { return try unstated(value) }
        if value.leading == [1, 1] {
            let isVector = own.suffix(2) == [1, 1] && shape == [own[2]]
            if isVector || shape == Array(own.suffix(3)) {
                return try squeezed(try images(value), isVector ? [0, 2, 3] : [0])
            }
        }
        return try reshaped(try exact(value), shape)
    }
}
