import RetintGraph

/// What an elementwise operation computes, in plain double precision.
package struct ElementwiseReference: Sendable {
    /// The operation's name.
    package let operation: String
    /// The result for one element of each input.
    package let value: @Sendable (_ operation: any Operation, _ elements: [Double]) -> Double

    static func unary<O: Operation>(
        _ type: O.Type, _ function: @escaping @Sendable (Double) -> Double
    ) -> Self {
        Self(operation: O.name) { function($1[0]) }
    }

    /// A function that depends on the operation's attributes.
    static func unary<O: Operation>(
        _ function: @escaping @Sendable (O, Double) -> Double
    ) -> Self {
        Self(operation: O.name) { operation, elements in
            (operation as? O).map { function($0, elements[0]) } ?? .nan
        }
    }

    static func binary<O: Operation>(
        _ type: O.Type, _ function: @escaping @Sendable (Double, Double) -> Double
    ) -> Self {
        Self(operation: O.name) { function($1[0], $1[1]) }
    }
}
