/// Every operation with its attributes; each column of tests runs down this table.
enum OperationTable {
    static let cases: [OperationCase] = [
        pointwise, arithmetic, reductions, layouts, convolutions, transposedConvolutions, matrices,
        pools, normalizations, upsamplings, sweeps,
    ].flatMap { $0 }

    static let differentiable = cases.filter { $0.hasGradient && $0.isSmooth }
    static let recorded = cases.filter { $0.checks != .unrecorded }
}
