import RetintTensors

/// How an element is kept in memory.
package enum ElementFormat: Sendable {
    case float32
    /// 16 bits, with 7 for the fraction.
    case bfloat16
    /// 16 bits, with 10 for the fraction.
    case float16

    /// Bytes of an element.
    package var bytes: Int { self == .float32 ? 4 : 2 }
}

/// Memory for the elements of one value, or of several with disjoint lifetimes.
package final class Storage {
    package enum Kind: Sendable {
        /// Placed in the program's arena by the memory plan.
        case arena
        /// Memory of its own: variables and constants, which live from run to run.
        case owned
    }

    package private(set) var kind: Kind
    /// Its elements.
    package let count: Int
    /// Where the memory begins, as its backend counts; set once the program is bound.
    package private(set) var address: UInt = 0
    /// The first and the last step that use the storage.
    package var lifetime: ClosedRange<Int>?
    /// The storage that has the elements instead, if a step overwrites another value.
    package var host: Storage?
    private var ownFormat = ElementFormat.float32

    package init(kind: Kind, count: Int) {
        (self.kind, self.count) = (kind, count)
    }

    /// Gives up memory of its own, to be placed in the arena for a time.
    package func place(during lifetime: ClosedRange<Int>) {
        precondition(address == 0, "a storage that has memory stays where it is")
        (kind, self.lifetime) = (.arena, lifetime)
    }

    /// How its elements are kept: as those of the storage that has them.
    package var format: ElementFormat {
        get { root.ownFormat }
        set { root.ownFormat = newValue }
    }

    /// Words of 32 bits that its elements fill.
    package var words: Int { (count * format.bytes + 3) / 4 }

    /// The storage that has the elements.
    package var root: Storage { host?.root ?? self }

    package func bind(to address: UInt) { self.address = address }

    /// Takes the address of the storage that has the elements, which is already bound.
    package func bindToHost() { address = root.address }

    func use(at step: Int) {
        let old = lifetime ?? step...step
        lifetime = min(old.lowerBound, step)...max(old.upperBound, step)
    }
}

/// A value in memory: a shape over a storage.
package struct Buffer {
    package let shape: Shape
    package let storage: Storage
    /// The first element's offset in the storage.
    package var offset = 0

    package init(shape: Shape, storage: Storage, offset: Int = 0) {
        (self.shape, self.storage, self.offset) = (shape, storage, offset)
    }

    /// Its elements.
    package var count: Int { shape.count }
}

extension Buffer {
    /// The same memory as one image whose pixels have `channels` channels each.
    package func asPixels(channels: Int) -> Buffer {
        let pixels = count / channels
        // Rows of few pixels, so that kernels can pass them on in the cache.
        let width = (1...64).last { pixels.isMultiple(of: $0) } ?? 1
        return Buffer(
            shape: [1, channels, pixels / width, width], storage: storage, offset: offset)
    }
}
