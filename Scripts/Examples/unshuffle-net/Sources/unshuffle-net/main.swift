// A custom architecture: this program is `retint` with one more network, in all commands.
//
//   cd Scripts/Examples/unshuffle-net && swift build -c release
//   .build/release/unshuffle-net train --config ../../recipes/mobile-unet.yaml \
//       --set architecture=unshuffle-net --output runs/unshuffle-net
//   .build/release/unshuffle-net export runs/unshuffle-net/best.h5 -o unshuffle-net.mlpackage
//
// Its packages run everywhere: in retint itself and in Core ML.

import RetintCLI
import RetintNetworks

/// A network without strides: each block of 8 × 8 pixels becomes 64 channels, inverted residuals
/// process them at that resolution, and a pixel shuffle returns to pixels.
final class UnshuffleNet: Module, ColorizerArchitecture {
    static let architecture = "unshuffle-net"
    static let requiredMultiple = 8

    // Parameters are named by their properties: body.0.expand.0.weight, …
    let narrow: Sequential
    let body: Sequential
    let context: Sequential
    let color: Conv2d

    init(options: ColorizerOptions) {
        let channels = options.scaled(64)
        narrow = convolution(64, channels, kernel: 1)
        body = Sequential(
            (0..<options.repeated(6)).map { _ in InvertedResidual(channels, channels) })
        context = globalContext(channels)
        // a and b of 4 × 4 pixels each, at half the size.
        let small = Initializer.normal(mean: 0, deviation: 0.01)
        color = Conv2d(channels, 32, kernel: 3, padding: 1, initializer: small)
        super.init()
        assignNames()
    }

    /// From L, [N, 1, H, W] in 0…100, to a and b, [N, 2, H, W] in −110…110.
    func forward(_ lightness: Tensor) -> Tensor {
        checkInput(lightness)
        let x = body(narrow(pixelUnshuffle(LabScaling.normalize(lightness: lightness), factor: 8)))
        let half = pixelShuffle(tanh(color(x + context(x))), factor: 4)
        return LabScaling.denormalize(ab: upsampleBilinear(half, factor: 2))
    }
}

UnshuffleNet.register()
await runRetint()
