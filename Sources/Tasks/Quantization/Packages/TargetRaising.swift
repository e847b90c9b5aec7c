import RetintMLPackage

extension MLPackage {
    /// Raises the deployment target (specification version and opset) to the earliest one that can
    /// decompress the plan's weights, as coremltools does. A program for an earlier target is also
    /// valid for a later one.
    ///
    /// - Returns: nil if the target is kept.
    mutating func raiseTarget(for plan: QuantizationPlan) -> QuantizationReport.RaisedTarget? {
        guard let scheme = plan.mostDemanding, scheme.firstTarget > target else { return nil }
        let old = target
        target = scheme.firstTarget
        return .init(from: "\(old)", to: "\(target)", weights: "\(scheme.weights)")
    }
}
