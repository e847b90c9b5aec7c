import RetintColor
import RetintExport
import RetintGraph
import RetintTensors

// Joins a and b into one tensor, and splits them again.

extension ModelInterface {
    /// a and b, [N, 2, H, W], of a program's outputs; nil if they are missing.
    func colors(_ results: [String: TensorData]) -> TensorData? {
        switch colors {
        case nil: nil
        case .joint(let name): results[name]
        case .split(let a, let b):
            results[a].flatMap { a in results[b].flatMap { b in joinedColors(a, b) } }
        }
    }
}

/// a and b, [N, 2, H, W]: the only output, or two outputs [N, 1, H, W] whose names end in a and b;
/// nil if the outputs are not colors.
package func joinedColors(of outputs: [NamedTensor]) -> TensorData? {
    if outputs.count == 1 { return outputs[0].data.isColor ? outputs[0].data : nil }
    guard outputs.count == 2, let a = outputs.first(where: { $0.name.hasSuffix("a") })?.data,
        let b = outputs.first(where: { $0.name.hasSuffix("b") })?.data
    else { return nil }
    return joinedColors(a, b)
}

/// [N, 2, H, W] of two tensors [N, 1, H, W]; nil for other shapes.
private func joinedColors(_ a: TensorData, _ b: TensorData) -> TensorData? {
    guard a.shape == b.shape, a.shape.rank == 4, a.shape[1] == 1 else { return nil }
    let area = a.shape[2] * a.shape[3]
    let scalars = (0..<a.shape[0]).flatMap { image in
        let range = image * area..<(image + 1) * area
        return a.scalars[range] + b.scalars[range]
    }
    return TensorData(shape: [a.shape[0], 2, a.shape[2], a.shape[3]], scalars: scalars)
}

extension TensorData {
    fileprivate var isColor: Bool { shape.rank == 4 && shape[1] == 2 }

    /// One channel of all images of colors [N, 2, H, W], image after image.
    ///
    /// - Parameter channel: 0 for a, 1 for b.
    package func colorPlane(_ channel: Int) -> [Float] {
        let area = shape[2] * shape[3]
        return (0..<shape[0]).flatMap { image in
            let start = (2 * image + channel) * area
            return scalars[start..<start + area]
        }
    }
}

extension LabPlanes {
    /// The images of a batch, one after another.
    ///
    /// - Precondition: lightness is [N, 1, H, W] and ab is [N, 2, H, W].
    package init(_ lightness: TensorData, ab: TensorData) {
        self.init(l: lightness.scalars, a: ab.colorPlane(0), b: ab.colorPlane(1))
    }
}
