/// The rules for a model's interface and its program.
enum InterfaceRules {
    static func check(
        _ description: ModelDescription, _ program: MILProgram, target: DeploymentTarget
    ) throws {
        let types = program.types
        try check(description.inputs, program.inputs.map(\.name), types, "input", target)
        try check(description.outputs, program.outputs, types, "output", target)
    }

    private static func check(
        _ features: [Feature], _ names: [String], _ types: [String: MILTensorType],
        _ role: String, _ target: DeploymentTarget
    ) throws {
        let listed = features.map(\.name)
        try require(
            listed.sorted() == names.sorted(), "interface",
            "its \(role)s are \(listed.sorted()), those of the program \(names.sorted())")
        for feature in features {
            guard let type = types[feature.name] else { continue }
            try at("\(role) \"\(feature.name)\"") {
                try checkDataType(type.dataType, target)
                try checkShape(feature.type, mayBeEmpty: role == "output")
                try compare(feature.type.tensorType, type, mayBeEmpty: role == "output")
                try checkVaryingSizes(feature.type, type)
            }
        }
    }

    private static func checkDataType(_ type: MILDataType, _ target: DeploymentTarget) throws {
        guard let oldest = DeploymentTarget.oldest(withInterfaceOf: type) else {
            throw BrokenRule("", "float32, float16, int32 or int8 is needed, not \(type)")
        }
        try require(
            target >= oldest, "", "\(type) needs the target \(oldest.rawValue)",
            "Choose a later target, or a float32 interface with a cast.")
    }

    private static func compare(
        _ feature: MILTensorType, _ type: MILTensorType, mayBeEmpty: Bool
    ) throws {
        let rule = "the interface says \(feature), the program \(type)"
        try require(feature.dataType == type.dataType, "", rule)
        if mayBeEmpty && feature.rank == 0 { return }
        try require(feature.rank == type.rank, "", rule)
        for (shown, own) in zip(feature.dimensions, type.dimensions) {
            // With flexible inputs, an output may state its default size.
            let isFree = shown == nil || own == nil && mayBeEmpty
            try require(shown == own || isFree, "", rule)
        }
    }

    /// A program of fixed size allows no other size.
    private static func checkVaryingSizes(_ feature: FeatureType, _ type: MILTensorType) throws {
        let bounds = feature.sizeBounds
        for (axis, size) in type.dimensions.enumerated() where axis < bounds.count {
            guard let size, bounds[axis] != SizeRange(size, size) else { continue }
            throw BrokenRule(
                "", "sizes \(bounds[axis]) are offered for axis \(axis), which has only \(size)")
        }
    }

    private static func checkShape(_ type: FeatureType, mayBeEmpty: Bool) throws {
        switch type {
        case .image(let image): try check(image)
        case .multiArray(let array):
            try require(mayBeEmpty || !array.shape.isEmpty, "", "it must not be a scalar")
            try require(array.shape.allSatisfy { $0 > 0 }, "", "sizes have to be above zero")
            try check(array.flexibility, array.shape)
        }
    }

    private static func check(_ flexibility: ArrayFeature.Flexibility, _ shape: [Int]) throws {
        switch flexibility {
        case .fixed: return
        case .enumerated(let shapes):
            let fits = shapes.allSatisfy { $0.count == shape.count && $0.allSatisfy { $0 > 0 } }
            try require(fits, "", "every listed shape needs \(shape.count) sizes above zero")
            try require(!shapes.isEmpty, "", "the list of shapes is empty")
            try require(shapes.contains(shape), "", "the default shape \(shape) is not listed")
        case .ranges(let ranges):
            try require(ranges.count == shape.count, "", "each dimension needs a range")
            for (range, size) in zip(ranges, shape) { try check(range, size) }
        }
    }

    private static func check(_ range: SizeRange, _ size: Int) throws {
        let isInside = size >= range.lower && size <= range.upper ?? .max
        try require(isInside, "", "the default size \(size) is outside the range that it states")
    }

    private static func check(_ image: ImageFeature) throws {
        try require(image.width > 0 && image.height > 0, "", "sizes have to be above zero")
        switch image.flexibility {
        case .fixed: return
        case .enumerated(let sizes):
            let fits = sizes.allSatisfy { $0.width > 0 && $0.height > 0 }
            try require(fits && !sizes.isEmpty, "", "the listed sizes have to be above zero")
            let standard = ImageFeature.Size(width: image.width, height: image.height)
            try require(sizes.contains(standard), "", "the default size is not listed")
        case .ranges(let width, let height):
            try check(width, image.width)
            try check(height, image.height)
        }
    }
}
