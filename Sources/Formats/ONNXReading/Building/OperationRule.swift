/// How an operation of ONNX becomes operations of the graph.
struct OperationRule: Sendable {
    typealias Translation = @Sendable (NodeContext) throws -> [ONNXValue]

    /// The inputs that are learned if they are initializers.
    let parameters: Set<Int>
    /// The inputs that are running statistics if they are initializers.
    let buffers: Set<Int>
    /// Whether an initializer of one element is learned, or a constant of the formula.
    let learnsScalars: Bool
    let translate: Translation

    init(
        parameters: Set<Int> = [], buffers: Set<Int> = [], learnsScalars: Bool = true,
        _ translate: @escaping Translation
    ) {
        (self.parameters, self.buffers) = (parameters, buffers)
        (self.learnsScalars, self.translate) = (learnsScalars, translate)
    }
}
