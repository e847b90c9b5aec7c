/// Which of a network's kinds of color it predicts.
///
/// A mean over possible colors is right on average and pale. Livelier ones are more plausible to
/// look at, and further from the original on average.
public enum ColorStyle: String, CaseIterable, Sendable {
    /// The colors that are closest to the originals: those of the network's saturation.
    case accurate
    /// Livelier colors: those of its `vivid_saturation`.
    case vivid
}

extension NetworkDescription {
    /// The network with the colors of a style; nil if it has no colors of that style.
    package func inStyle(_ style: ColorStyle) -> NetworkDescription? {
        guard style == .vivid else { return self }
        guard case .named(let name, var options) = self, let scale = options.vividChromaScale else {
            return nil
        }
        options.chromaScale = scale
        return .named(name, options)
    }
}
