import MLPackage

extension MLPackage {
    /// Raises the deployment target to the first one that decompresses the plan's weights, as
    /// coremltools does: specification version and opset. The operations of a program for an
    /// earlier target are valid for a later one.
    ///
    /// - Returns: nil if the target stays.
    mutating func raiseTarget(for plan: QuantizationPlan) -> QuantizationReport.RaisedTarget? {
        guard let scheme = plan.mostDemanding, scheme.firstTarget > target else { return nil }
        let old = target
        target = scheme.firstTarget
        return .init(from: "\(old)", to: "\(target)", weights: "\(scheme.weights)")
    }
}
