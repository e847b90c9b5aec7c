/// How a model is written as ONNX.
public struct ONNXOptions: Hashable, Sendable {
    /// The version of ONNX's operators, one of ``opsets``. If nil, ``standardOpset``, or the first
    /// later one that has all that the model needs.
    public var opset: Int?
    /// The version of the program that writes the file, for its `producer_version`.
    public var producerVersion = ""

    /// The versions of ONNX's operators that can be written.
    public static let opsets = 11...21
    /// The version that is written unless a model needs a later one: since 2022, every runtime
    /// reads it.
    public static let standardOpset = 17

    /// Creates options.
    ///
    /// - Parameter opset: the version of ONNX's operators; nil to choose by the model.
    public init(opset: Int? = nil) { self.opset = opset }
}
