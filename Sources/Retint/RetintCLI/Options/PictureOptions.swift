import ArgumentParser
import Retint

/// A picture that photos or frames show in perspective.
struct PictureOptions: ParsableArguments {
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            """
            Color only a picture that is shown in perspective: the four \
            corners of the picture, clockwise from its upper left corner, in pixels of the upright \
            photo or of the frames. Put it after the photos or the video.
            """, valueName: "x,y x,y x,y x,y"))
    var quad: [String] = []

    func validate() throws { _ = try quadrilateral }

    /// The picture; nil if none is given.
    var quadrilateral: Quadrilateral? {
        get throws {
            if quad.isEmpty { return nil }
            do {
                return try Quadrilateral(parsing: quad.joined(separator: " "))
            } catch {
                throw ValidationError("--quad \(error)")
            }
        }
    }
}
