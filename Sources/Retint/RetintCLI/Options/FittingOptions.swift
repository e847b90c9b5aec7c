import ArgumentParser
import Retint

/// How a photo is fitted to the network, and the network's colors to the photo.
struct FittingOptions: ParsableArguments {
    @Option(
        help: """
            The shape of the network's input: a square, or the photo's own aspect ratio. A \
            package always uses its own size.
            """)
    var proportions: PhotoFitting.Proportions?

    @Option(
        help: """
            How the colors are upsampled to the photo's size: bilinear, or guided by the photo's \
            lightness, so that colors end where objects do.
            """)
    var enlarge: PhotoFitting.Enlargement?

    /// The choices, each the default if it was not given.
    var fitting: PhotoFitting {
        let standard = PhotoFitting()
        return PhotoFitting(
            proportions: proportions ?? standard.proportions,
            enlargement: enlarge ?? standard.enlargement)
    }

    /// The choices; nil if none was given.
    var given: PhotoFitting? { proportions == nil && enlarge == nil ? nil : fitting }
}

extension PhotoFitting.Proportions: ExpressibleByArgument {}
extension PhotoFitting.Enlargement: ExpressibleByArgument {}
