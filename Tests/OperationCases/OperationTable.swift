/// Every operation with its attributes. The harness of OperationTests runs all lines of this table,
/// the conversion tests those that state what they are lowered to.
package enum OperationTable {
    package static let cases: [OperationCase] = [
        pointwise, arithmetic, reductions, layouts, convolutions, transposedConvolutions, matrices,
        pools, normalizations, upsamplings, sweeps, lowered,
    ].flatMap { $0 }

    package static let differentiable = cases.filter { $0.hasGradient && $0.isSmooth }
    package static let recorded = cases.filter { $0.checks != .unrecorded }
    package static let exported = cases.filter { $0.mil != nil }
}
