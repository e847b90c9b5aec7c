import RetintFiles
import RetintMIL
import RetintMLPackage

extension ConversionError {
    /// What a scheme or plan asks for is not possible.
    static func option(_ place: String, _ rule: String, _ remedy: String) -> ConversionError {
        var error = ConversionError(place: place, rule: rule, remedy: remedy)
        error.kind = .option
        return error
    }

    /// A value is not finite on the calibration inputs.
    static func notFinite(value: String) -> ConversionError {
        ConversionError(
            place: "value \(value)", rule: "it is not finite on the calibration inputs",
            remedy: "Verify the package on these inputs: the report names the operation where such "
                + "numbers first appear.")
    }
}

extension DeploymentTarget {
    /// Checks that a package for this target can have what needs a later one. iOS15, the default of
    /// an export, is raised to it; any later target was chosen deliberately and is kept.
    ///
    /// - Throws: `ConversionError` for an earlier target.
    func require(
        _ first: DeploymentTarget, _ place: String, _ problem: String, _ remedy: String
    ) throws {
        guard self < first, self != .iOS15 else { return }
        var error = ConversionError.option(
            place, "a package for \(self) cannot \(problem) \(first)", remedy)
        error.remedies = [Remedy(.target, "\(first)")]
        throw error
    }
}
