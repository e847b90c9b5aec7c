import RetintArchitectures

extension ModelInterface {
    /// Whether lightness alone goes in, and colors alone come out.
    public var isColorizer: Bool { inputs.map(\.role) == [.lightness] && colors != nil }

    /// The outputs that are the colors; nil if none are.
    package var colors: ColorOutputs? {
        func name(_ role: Role) -> String? { outputs.first { $0.role == role }?.name }
        if let ab = name(.ab) { return .joint(ab) }
        return name(.a).flatMap { a in name(.b).map { .split(a: a, b: $0) } }
    }

    /// The number of images in a batch; nil if the model takes any number.
    package var batchSize: Int? { inputs.first?.shapes.only(0) }

    /// The only input, if one channel of an image goes in: lightness, if colors come out.
    package var onlyChannel: Value? {
        guard inputs.count == 1, inputs[0].shapes.standard.count == 4,
            inputs[0].shapes.standard[1] ?? 1 == 1
        else { return nil }
        return inputs[0]
    }

    /// Gives the values of a colorizer their roles.
    ///
    /// - Parameters:
    ///   - shapes: of the inputs, as far as they are known.
    ///   - outputs: the shapes of the outputs, in their order.
    /// - Returns: whether this is a colorizer: one channel goes in, and two come out, in one output
    ///   or in two.
    mutating func assignRoles(inputs shapes: [[Int?]], outputs: [[Int?]]) -> Bool {
        let results = zip(self.outputs, outputs).map { (name: $0.name, shape: $1) }
        guard shapes.count == 1, shapes[0].count == 4, shapes[0][1] == 1,
            let colors = ColorOutputs(partial: results)
        else { return false }
        inputs[0].role = .lightness
        for index in self.outputs.indices {
            switch colors {
            case .joint: self.outputs[index].role = .ab
            case .split(let a, _):
                self.outputs[index].role = self.outputs[index].name == a ? .a : .b
            }
        }
        return true
    }
}
