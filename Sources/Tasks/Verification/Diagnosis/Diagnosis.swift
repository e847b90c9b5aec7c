extension VerificationReport {
    /// Where the errors of a model come from, and the packages written to show or avoid them.
    public struct Diagnosis: Sendable {
        /// The errors at the stages of the export, in its order; empty if they were not compared.
        public var stages: [VerificationReport.StageComparison]
        /// The errors of weights and of arithmetic; nil if they were not measured.
        public var errorSources: VerificationReport.ErrorSources?
        /// The search for operations that need float32; nil if it was not requested.
        public var precisionSearch: PrecisionSearch.Summary?
        /// The smallest part that fails; nil if it was not requested, or nothing fails.
        public var reduction: PackageReduction.Summary?
        /// The model in many arithmetics; nil if that was not requested.
        public var arithmetics: VerificationReport.ArithmeticSurvey?
        /// What holds for all inputs; nil if that was not requested.
        public var certificate: VerificationReport.Certificate?

        /// Creates a diagnosis; without arguments, an empty one.
        public init(
            stages: [VerificationReport.StageComparison] = [],
            errorSources: VerificationReport.ErrorSources? = nil,
            precisionSearch: PrecisionSearch.Summary? = nil,
            reduction: PackageReduction.Summary? = nil,
            arithmetics: VerificationReport.ArithmeticSurvey? = nil,
            certificate: VerificationReport.Certificate? = nil
        ) {
            self.stages = stages
            self.errorSources = errorSources
            self.precisionSearch = precisionSearch
            self.reduction = reduction
            self.arithmetics = arithmetics
            self.certificate = certificate
        }

        /// The first stage with an output outside the bounds; nil if all are within.
        public var firstFailingStage: VerificationReport.Stage? {
            stages.first { !$0.isWithin }?.stage
        }

        /// The same measurements, checked against other bounds.
        func judged(by tolerance: Tolerance) -> VerificationReport.Diagnosis {
            VerificationReport.Diagnosis(
                stages: stages.map { $0.judged(by: tolerance) },
                errorSources: errorSources, precisionSearch: precisionSearch,
                reduction: reduction, arithmetics: arithmetics, certificate: certificate)
        }
    }
}

extension VerificationReport.Diagnosis: Codable {
    private enum CodingKeys: String, CodingKey {
        case stages, errorSources, precisionSearch, reduction, arithmetics, certificate
    }

    /// Decodes what was found; a key that is missing was not requested.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            stages: try container.decodeIfPresent(
                [VerificationReport.StageComparison].self, forKey: .stages) ?? [],
            errorSources: try container.decodeIfPresent(
                VerificationReport.ErrorSources.self, forKey: .errorSources),
            precisionSearch: try container.decodeIfPresent(
                PrecisionSearch.Summary.self, forKey: .precisionSearch),
            reduction: try container.decodeIfPresent(
                PackageReduction.Summary.self, forKey: .reduction),
            arithmetics: try container.decodeIfPresent(
                VerificationReport.ArithmeticSurvey.self, forKey: .arithmetics),
            certificate: try container.decodeIfPresent(
                VerificationReport.Certificate.self, forKey: .certificate))
    }

    /// Encodes what was found, without what was not requested.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if !stages.isEmpty { try container.encode(stages, forKey: .stages) }
        try container.encodeIfPresent(errorSources, forKey: .errorSources)
        try container.encodeIfPresent(precisionSearch, forKey: .precisionSearch)
        try container.encodeIfPresent(reduction, forKey: .reduction)
        try container.encodeIfPresent(arithmetics, forKey: .arithmetics)
        try container.encodeIfPresent(certificate, forKey: .certificate)
    }
}
