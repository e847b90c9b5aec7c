/// The model needs a later version of ONNX's operators.
struct OpsetNeeded: Error {
    let opset: Int
    /// The location in the program.
    let place: String
    /// What needs it, in the plural.
    let what: String
}
