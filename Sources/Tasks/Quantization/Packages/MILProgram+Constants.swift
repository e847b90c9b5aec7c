import RetintMLPackage

extension MILProgram {
    /// The values of constants by name.
    var constantValues: [String: MILValue] {
        let found = operations.compactMap { operation in
            operation.constantValue.map { (operation.outputs[0].name, $0) }
        }
        return Dictionary(found) { first, _ in first }
    }
}

extension [String: MILValue] {
    /// The value of a parameter that is given in place or by the name of one of these constants.
    func value(of arguments: [MILArgument]?) -> MILValue? {
        switch arguments?.first {
        case .value(let value): value
        case .name(let name): self[name]
        case nil: nil
        }
    }
}
