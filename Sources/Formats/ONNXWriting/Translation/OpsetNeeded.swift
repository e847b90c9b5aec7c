/// The model needs a later version of ONNX's operators.
struct OpsetNeeded: Error {
    let opset: Int
    /// The location in the program.
    let place: String
    /// The parts that need it, in the plural.
    let what: String
}
