import ArgumentParser
import Retint

/// A picture that photos or frames show in perspective.
struct PictureOptions: ParsableArguments {
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            """
            Color a picture that is shown in perspective, and leave the rest as it is: the four \
            corners of the picture, clockwise from its upper left one, in pixels of the upright \
            photo or of the frames. After the photos or the film.
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
