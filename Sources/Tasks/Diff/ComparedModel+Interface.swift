import RetintExport
import RetintMLPackage

extension ComparedModel {
    /// What the interface states, a text for each place.
    var interface: [(String, String)] {
        modelInterface.inputs.enumerated().flatMap { $1.texts("input", $0) }
            + modelInterface.outputs.enumerated().flatMap { $1.texts("output", $0) } + labels
    }

    /// Whether a place is the shape of an output that one of two models does not state whole, and
    /// the other has nothing else. Exporters often leave sizes of outputs open.
    func leavesOpen(_ place: String, of other: ComparedModel) -> Bool {
        let outputs = zip(modelInterface.outputs, other.modelInterface.outputs)
        return outputs.enumerated().contains { index, pair in
            let (own, theirs) = (pair.0.shapes.standard, pair.1.shapes.standard)
            return place == "output \(index + 1) shape" && own.count == theirs.count
                && (own + theirs).contains(nil)
                && zip(own, theirs).allSatisfy { $0 == nil || $1 == nil || $0 == $1 }
        }
    }

    private var labels: [(String, String)] {
        guard let labels = model.package?.description.classifier else { return [] }
        let names = (labels.labels ?? []).enumerated().map { ("\(ModelDiff.label)\($0)", $1) }
        return [(ModelDiff.labels, labels.outputs.joined(separator: ", "))] + names
    }
}

extension ModelInterface.Value {
    /// Values are compared by their places: an input that is called otherwise is still the same.
    fileprivate func texts(_ direction: String, _ index: Int) -> [(String, String)] {
        let place = "\(direction) \(index + 1)"
        let stated: [(String, String?)] = [
            ("name", name), ("shape", shapes.text), ("element type", elementType?.rawValue),
            ("channels", colorLayout?.rawValue), ("role", role == .none ? nil : role.rawValue),
            ("scale", scaling.text(\.scale, neutral: 1)),
            ("bias", scaling.text(\.bias, neutral: 0)),
        ]
        return stated.compactMap { property, text in text.map { ("\(place) \(property)", $0) } }
    }
}

extension ModelInterface.Scaling {
    /// The numbers as text; nil if they do nothing.
    fileprivate func text(_ numbers: KeyPath<Self, [Float]>, neutral: Float) -> String? {
        let values = self[keyPath: numbers]
        guard values.contains(where: { $0 != neutral }) else { return nil }
        return values.map { "\($0)" }.joined(separator: ", ")
    }
}

extension ModelInterface.Shapes {
    fileprivate var text: String {
        switch flexibility {
        case .fixed: shapeText(standard)
        case .enumerated(let shapes):
            "\(shapeText(standard)) of " + shapes.map { shapeText($0) }.joined(separator: ", ")
        case .ranges(let extents):
            "\(shapeText(standard)) of ["
                + extents.map(\.text).joined(separator: ", ") + "]"
        }
    }
}

extension ModelInterface.Extent {
    fileprivate var text: String {
        if let only { return "\(only)" }
        let range = "\(lower)…" + (upper.map { "\($0)" } ?? "")
        return multiple == 1 ? range : "\(range) by \(multiple)"
    }
}

/// `[1, ?, 64]`.
func shapeText(_ extents: [Int?]) -> String {
    "[" + extents.map { $0.map(String.init) ?? "?" }.joined(separator: ", ") + "]"
}
