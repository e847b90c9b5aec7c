import ArgumentParser

/// How lively the colors of photos and frames become.
struct SaturationOptions: ParsableArguments {
    @Option(
        help: """
            A factor for the colors of this output, 0 to 4: 1.3 makes the colors of a pale \
            network more vivid. It multiplies the network's own saturation, which `import` sets.
            """)
    var saturation = 1.0

    /// The factor for a and b.
    var factor: Float { Float(saturation) }

    func validate() throws {
        guard (0...4).contains(saturation) else {
            throw ValidationError("--saturation \(saturation): must be from 0 to 4")
        }
    }
}
