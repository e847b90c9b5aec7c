import RetintMIL

enum PixelShuffles: OperationFamily {
    static let forms: [String: Form] = [
        "pixel_shuffle": { operation in
            let factor = try operation.factor("upscale_factor")
            operation.result(
                "DepthToSpace", [try operation.tensor("x")],
                ["blocksize": .int(factor), "mode": "CRD"])
        },
        "pixel_unshuffle": { try $0.pixelUnshuffle() },
    ]
}

extension TranslatedOperation {
    /// SpaceToDepth orders channels by their place in the block first; they are then reordered.
    fileprivate func pixelUnshuffle() throws {
        let factor = try factor("downscale_factor")
        let x = try type(of: "x")
        guard x.rank == 4, let channels = x.dimensions[1], channels <= 1 << 16 else {
            throw error("the number of channels of \(x) is not known")
        }
        let places = factor * factor
        guard channels * places <= 1 << 24 else { throw error("it has too many channels") }
        let depth = step("SpaceToDepth", [try tensor("x")], ["blocksize": .int(factor)])
        let order = (0..<channels * places).map { $0 % places * channels + $0 / places }
        result("Gather", [depth, try integers(order, "channels")], ["axis": 1])
    }
}
