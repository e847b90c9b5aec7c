/// The oldest system that a package runs on.
///
/// It decides the version that stands in the model file and the operation set of its program; the
/// two always go together.
package enum DeploymentTarget: String, CaseIterable, Sendable, Comparable {
    case iOS15, iOS16, iOS17, iOS18

    /// The number that stands in the model file.
    package var specificationVersion: Int32 {
        switch self {
        case .iOS15: 6
        case .iOS16: 7
        case .iOS17: 8
        case .iOS18: 9
        }
    }

    /// The name of the operation set.
    package var opset: String { "CoreML\(specificationVersion - 1)" }

    /// Whether inputs and outputs may be float16.
    package var allowsHalfInterface: Bool { self >= .iOS16 }

    package init?(specificationVersion: Int32) {
        let match = Self.allCases.first { $0.specificationVersion == specificationVersion }
        guard let match else { return nil }
        self = match
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.specificationVersion < right.specificationVersion
    }
}
