import ArgumentParser
import Retint

/// How a photo is fitted to the network, and the network's colors to the photo.
struct FittingOptions: ParsableArguments {
    @Option(
        help: """
            Whether the network sees a photo as a square or in the photo's own proportions. A \
            package keeps its size.
            """)
    var proportions: PhotoFitting.Proportions?

    @Option(
        help: """
            How the colors are enlarged to the photo's size: bilinear, or guided by the photo's \
            lightness, so that they end where objects do.
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
