import RetintArchitectures

extension ModelInterface {
    /// The side, in pixels, at which a network runs that takes many sizes, unless told otherwise.
    package static let usualSide = 256

    /// The interface of a network: lightness goes in, a and b come out, at any number of images.
    package init(of network: any ColorizerNetwork) {
        let height: Extent, width: Extent
        switch network.sizes {
        case .multiples(let number):
            (height, width) = (Extent(multiplesOf: number), Extent(multiplesOf: number))
        case .only(let h, let w): (height, width) = (Extent(h), Extent(w))
        }
        func value(_ name: String, _ role: Role, channels: Int) -> Value {
            let standard = [height, width].map { $0.only ?? Self.usualSide }
            let extents = [Extent(from: 1, to: nil), Extent(channels), height, width]
            return Value(
                name: name, role: role,
                shapes: Shapes([1, channels] + standard, .ranges(extents: extents)),
                elementType: .float32)
        }
        self.init(
            inputs: [value("lightness", .lightness, channels: 1)],
            outputs: [value("ab", .ab, channels: 2)])
    }
}
