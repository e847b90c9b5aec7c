public import RetintExport
public import RetintRuntime
public import RetintTensors

extension ModelDiff {
    /// The shapes of inputs on which two models are compared: those of the second model, or of the
    /// first one if the second takes them and the first does not take the second's.
    ///
    /// - Parameter size: the size of images; nil for those of the models.
    /// - Throws: `ModelError` if the size is out of range, or an extent is open.
    public static func inputShapes(
        of first: Model, _ second: Model, size: ExportOptions.Size? = nil
    ) throws -> [Shape] {
        let theirs = try second.inputShapes(size: size)
        guard size == nil, try !first.interface.takes(theirs) else { return theirs }
        let own = try first.inputShapes()
        return try second.interface.takes(own) ? own : theirs
    }
}

extension ModelInterface {
    /// Whether the inputs may have these shapes, in their order.
    func takes(_ shapes: [Shape]) -> Bool {
        shapes.count == inputs.count
            && zip(inputs, shapes).allSatisfy { $0.shapes.allow($1.dimensions) }
    }
}

extension ModelInterface.Shapes {
    fileprivate func allow(_ shape: [Int]) -> Bool {
        switch flexibility {
        case .fixed:
            shape.count == standard.count
                && zip(standard, shape).allSatisfy { $0 == nil || $0 == $1 }
        case .enumerated(let shapes): shapes.contains(shape)
        case .ranges(let extents):
            shape.count == extents.count && zip(extents, shape).allSatisfy { $0.allows($1) }
        }
    }
}

extension ModelInterface.Extent {
    fileprivate func allows(_ size: Int) -> Bool {
        size >= lower && size <= upper ?? .max && size.isMultiple(of: multiple)
    }
}
