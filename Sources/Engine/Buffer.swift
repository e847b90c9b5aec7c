import TensorGraph

/// Memory that one or more values share in turn.
final class Storage {
    enum Kind {
        /// Placed in the arena by the memory plan, where its time allows.
        case arena
        /// Owned: variables and constants, which live from run to run.
        case owned
    }

    let kind: Kind
    let count: Int
    /// Valid once the program is bound.
    fileprivate(set) var pointer: UnsafeMutablePointer<Float>!
    /// The steps of the program between which the storage is in use.
    var lifetime: ClosedRange<Int>?
    /// Set where an in-place step lets this value live in another's storage.
    var host: Storage?

    init(kind: Kind, count: Int) {
        self.kind = kind
        self.count = count
        if kind == .owned {
            pointer = .allocate(capacity: max(count, 1))
            pointer.initialize(repeating: 0, count: max(count, 1))
        }
    }

    deinit {
        if kind == .owned { pointer.deallocate() }
    }

    /// The storage that finally holds the elements.
    var root: Storage { host?.root ?? self }

    func bind(to pointer: UnsafeMutablePointer<Float>) {
        self.pointer = pointer
    }

    func use(at step: Int) {
        let old = lifetime ?? step...step
        lifetime = min(old.lowerBound, step)...max(old.upperBound, step)
    }
}

/// A value's place: a shape over a storage.
struct Buffer {
    let shape: Shape
    let storage: Storage

    var count: Int { shape.count }
    var pointer: UnsafeMutablePointer<Float> { storage.root.pointer }
}

extension Buffer {
    /// Copies row-major numbers in.
    func load(_ scalars: [Float]) {
        scalars.withUnsafeBufferPointer { source in
            guard let base = source.baseAddress else { return }
            let view = View(shape: shape, steps: shape.strides).cView
            rtGather(pointer, base, view, shape.count)
        }
    }

    /// Copies the numbers out, row-major.
    func scalars() -> [Float] {
        [Float](unsafeUninitializedCapacity: count) { target, initialized in
            if let base = target.baseAddress {
                let view = View(shape: shape, steps: shape.strides).cView
                rtScatter(base, pointer, view, shape.count)
            }
            initialized = count
        }
    }
}
