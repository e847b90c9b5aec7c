import Retint

extension VerifyCommand {
    /// Bounds the model for all inputs, if that is requested, and writes the worst image.
    func certify(_ model: Model, _ report: inout VerificationReport) throws {
        guard diagnosis.certify else { return }
        let interface = try model.interface
        let inputs = try interface.inputs.map { try certifiedInput($0, model.name) }
        let bar = ProgressBar("certificate", total: 0, unit: "images")
        defer { bar.finish() }
        let certificate = try model.certificate(
            for: inputs, shapes: model.inputShapes(size: input.size), compute: compute,
            seed: input.seed ?? 0, onTry: { bar.update($0) })
        report.diagnosis.certificate = certificate
        guard let path = diagnosis.worstImage else { return }
        guard let picture = certificate.picture else {
            throw CommandError(
                .usage,
                "--worst-image: \(model.name) takes no photos, so there is no picture; omit it"
            )
        }
        let input = interface.inputs.first { $0.name == picture.input }
        try Image(
            width: picture.width, height: picture.height,
            pixels: input?.colorLayout == .bgr ? picture.pixels.swappingRedAndBlue : picture.pixels
        ).write(to: path)
    }

    private func certifiedInput(
        _ value: ModelInterface.Value, _ model: String
    ) throws -> CertifiedInput {
        let noise = input.noise(named: value.name)
        if noise == nil, value.takesPhotos, let levels = levels(of: value) {
            return CertifiedInput(
                name: value.name, levels: levels,
                isGray: value.role == .lightness || value.role == .grayRGB)
        }
        guard let range = CertifiedInput(value, noise) else {
            throw CommandError(
                .usage,
                "--certify: the values of input \(value.name) of \(model) have no bounds; state "
                    + "them with --noise \(value.name)=uniform:A..B")
        }
        return range
    }

    /// What the levels 0…255 of a gray picture become in each channel of an input.
    private func levels(of value: ModelInterface.Value) -> [[Float]]? {
        let pixels = (0...255).flatMap { [UInt8](repeating: UInt8($0), count: 3) }
        let ramp = Image(width: 256, height: 1, pixels: pixels)
        let scalars = ramp.tensor(for: value, height: 1, width: 256, range: input.range ?? .unit)
            .scalars
        let levels = stride(from: 0, to: scalars.count, by: 256).map {
            Array(scalars[$0..<$0 + 256])
        }
        let ascends = levels.allSatisfy { $0[0] < $0[255] }
        return ascends && !levels.isEmpty ? levels : nil
    }
}

extension [UInt8] {
    /// The pixels of an input whose channels are blue, green and red.
    fileprivate var swappingRedAndBlue: [UInt8] {
        indices.map { self[$0 / 3 * 3 + 2 - $0 % 3] }
    }
}
