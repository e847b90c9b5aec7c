import MLPackage

/// How a checkpoint is written as a Core ML package.
public struct ExportOptions: Hashable, Sendable {
    /// The arithmetic and the weights of the whole program.
    public enum Precision: String, CaseIterable, Sendable {
        case float32, float16
    }

    /// The oldest system that the package runs on.
    public enum Target: String, CaseIterable, Sendable {
        case iOS15, iOS16, iOS17, iOS18
    }

    /// What the model takes as `input`.
    public enum Input: String, CaseIterable, Sendable {
        /// A multi-array [1, 1, H, W] of L in 0…100.
        case tensor
        /// A grayscale picture, whose 0…255 stand for L in 0…100.
        case image
    }

    /// What the model gives.
    public enum Output: String, CaseIterable, Sendable {
        /// `ab`, [1, 2, H, W] in −110…110.
        case ab
        /// `output_a` and `output_b`, [1, 1, H, W] each.
        case split
    }

    public var precision: Precision
    public var target: Target
    public var input: Input
    public var output: Output
    /// In pixels; multiples of what the architecture needs.
    public var height: Int
    public var width: Int
    /// Shown to whoever opens the package; left out where empty.
    public var author = ""
    public var license = ""

    /// - Parameter size: height and width in pixels.
    public init(
        precision: Precision = .float32, target: Target = .iOS15, input: Input = .tensor,
        output: Output = .ab, size: Int = 256
    ) {
        self.precision = precision
        self.target = target
        self.input = input
        self.output = output
        height = size
        width = size
    }
}

extension ExportOptions.Precision {
    var dataType: MILDataType { self == .float16 ? .float16 : .float32 }
}

extension ExportOptions.Target {
    var deploymentTarget: DeploymentTarget {
        switch self {
        case .iOS15: .iOS15
        case .iOS16: .iOS16
        case .iOS17: .iOS17
        case .iOS18: .iOS18
        }
    }
}

/// What an export wrote.
public struct ExportSummary: Hashable, Sendable {
    /// Operations of the program, constants not counted.
    public let operationCount: Int
    /// The numbers in the program's float constants.
    public let weightCount: Int
    /// SHA-256 of the checkpoint's weights, as the package's metadata has it.
    public let checkpointHash: String
}
