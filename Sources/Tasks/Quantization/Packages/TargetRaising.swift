import RetintMLPackage

extension MLPackage {
    /// Raises the deployment target (specification version and opset) to the earliest one that can
    /// run the plan's package, as coremltools does. A program for an earlier target is also valid
    /// for a later one.
    ///
    /// - Returns: nil if the target is kept.
    mutating func raiseTarget(for plan: QuantizationPlan) -> QuantizationReport.RaisedTarget? {
        guard let first = plan.firstTarget, first.target > target else { return nil }
        let old = target
        target = first.target
        return .init(from: "\(old)", to: "\(target)", reason: first.reason)
    }
}
