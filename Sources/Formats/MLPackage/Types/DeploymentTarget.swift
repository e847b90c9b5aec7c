/// The oldest system that a package runs on; later versions include the features of earlier ones.
///
/// It determines the specification version of the model file and the operation set of its program.
public enum DeploymentTarget: String, CaseIterable, Sendable, Comparable {
    /// iOS 15 and macOS 12.
    case iOS15
    /// iOS 16 and macOS 13: float16 inputs and outputs, compressed weights.
    case iOS16
    /// iOS 17 and macOS 14.
    case iOS17
    /// iOS 18 and macOS 15: 4-bit weights, scales for blocks of channels.
    case iOS18
    /// iOS 26 and macOS 26: 8-bit inputs and outputs.
    case iOS26

    /// Core ML's number for the version, as stored in the model file.
    public var specificationVersion: Int32 {
        switch self {
        case .iOS15: 6
        case .iOS16: 7
        case .iOS17: 8
        case .iOS18: 9
        case .iOS26: 10
        }
    }

    /// The name of the operation set.
    package var opset: String { "CoreML\(specificationVersion - 1)" }

    /// The oldest target that allows inputs and outputs of this type; nil if none does.
    package static func oldest(withInterfaceOf type: MILDataType) -> DeploymentTarget? {
        switch type {
        case .float32, .int32: .iOS15
        case .float16: .iOS16
        case .int8: .iOS26
        default: nil
        }
    }

    package init?(specificationVersion: Int32) {
        let match = Self.allCases.first { $0.specificationVersion == specificationVersion }
        guard let match else { return nil }
        self = match
    }

    /// Whether `left` is the older system.
    public static func < (left: Self, right: Self) -> Bool {
        left.specificationVersion < right.specificationVersion
    }
}
