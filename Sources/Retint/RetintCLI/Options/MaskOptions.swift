import ArgumentParser
import Retint

/// Where new colors go, and how much of them.
struct MaskOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A grayscale image of the same size: white is colored, black keeps its own colors. In \
            a folder, each photo's mask has the photo's name; masks of video frames are used in \
            the order of the numbers in their names.
            """, valueName: "file|folder"), completion: .photo)
    var mask: String?

    @Option(
        help: """
            Color only these instances, such as 1,3. The mask is a PNG of instance indices, \
            grayscale or with a palette; 0 is the background.
            """)
    var instances: String?

    @Option(help: "Soften the edges of the mask: the standard deviation of a blur, in pixels.")
    var feather: Double = 0

    @Option(help: "The share of the new colors, 0 to 1; the rest is the photo's own colors.")
    var blend: Double = 1

    func validate() throws {
        guard (0...1).contains(blend) else {
            throw ValidationError("--blend \(blend): must be from 0 to 1")
        }
        guard (0...Self.largestFeather).contains(feather) else {
            throw ValidationError(
                "--feather \(feather): must be from 0 to \(Int(Self.largestFeather)) pixels")
        }
        guard mask != nil || (instances == nil && feather == 0) else {
            throw ValidationError(
                "\(instances == nil ? "--feather" : "--instances") has no effect without --mask")
        }
        _ = try chosenInstances
    }

    private static let largestFeather = 1000.0

    /// The masks; nil if none are given.
    func masks() throws -> ColorMasks? {
        try mask.map {
            try ColorMasks(
                contentsOf: $0, instances: chosenInstances, feather: Float(feather))
        }
    }

    /// The indices; nil if the mask is not a mask of instances.
    private var chosenInstances: [Int]? {
        get throws {
            try instances.map { text in
                try text.split(separator: ",", omittingEmptySubsequences: false).map {
                    guard let index = Int($0), (1...0xffff).contains(index) else {
                        throw ValidationError(
                            "--instances \(text): must be indices from 1 to 65535, such as 1,3")
                    }
                    return index
                }
            }
        }
    }
}
