import Glibc
import RetintGraph
import RetintTensors

/// Memory for the elements of one value, or of several with disjoint lifetimes.
final class Storage {
    enum Kind {
        /// Placed in the program's arena by the memory plan.
        case arena
        /// Separately allocated: variables and constants, which live from run to run.
        case owned
    }

    private(set) var kind: Kind
    let count: Int
    /// Set once the program is bound.
    fileprivate(set) var pointer: UnsafeMutablePointer<Float>!
    /// The first and the last step that use the storage.
    var lifetime: ClosedRange<Int>?
    /// The storage that has the elements instead, if a step overwrites another value.
    var host: Storage?

    init(kind: Kind, count: Int) {
        (self.kind, self.count) = (kind, count)
    }

    /// Allocates its own memory, filled with zeros, unless it has some.
    ///
    /// - Returns: whether the system has memory for it.
    func allocate() -> Bool {
        if pointer == nil { pointer = FloatMemory.allocate(count) }
        return pointer != nil
    }

    /// Gives up its own memory, to be temporarily placed in the arena.
    func place(during lifetime: ClosedRange<Int>) {
        precondition(pointer == nil, "a storage that has memory stays where it is")
        (kind, self.lifetime) = (.arena, lifetime)
    }

    deinit {
        if kind == .owned, host == nil, pointer != nil { FloatMemory.free(pointer, count) }
    }

    /// The storage that has the elements.
    var root: Storage { host?.root ?? self }

    func bind(to pointer: UnsafeMutablePointer<Float>) {
        self.pointer = pointer
    }

    /// Takes the address of the storage that has the elements, which is already bound.
    func bindToHost() { pointer = root.pointer }

    func use(at step: Int) {
        let old = lifetime ?? step...step
        lifetime = min(old.lowerBound, step)...max(old.upperBound, step)
    }
}

/// A value in memory: a shape over a storage.
struct Buffer {
    let shape: Shape
    let storage: Storage
    /// The first element's offset in the storage.
    var offset = 0

    var count: Int { shape.count }
    /// Kernels read this in each run, on all threads: it must not touch a reference count, for
    /// which the threads would compete.
    var pointer: UnsafeMutablePointer<Float> { storage.pointer + offset }
}

extension Buffer {
    /// Copies row-major scalars in.
    func load(_ scalars: [Float]) {
        scalars.withUnsafeBufferPointer { source in
            guard let base = source.baseAddress else { return }
            let view = View(shape: shape, steps: shape.strides)
            view.gather(from: base, to: pointer, shape.count)
        }
    }

    /// Copies the scalars out, row-major.
    func scalars() -> [Float] {
        [Float](unsafeUninitializedCapacity: count) { target, initialized in
            if let base = target.baseAddress {
                let view = View(shape: shape, steps: shape.strides)
                view.scatter(pointer, to: base, shape.count)
            }
            initialized = count
        }
    }
}

extension Buffer {
    /// The same memory as one image whose pixels have `channels` channels each.
    func asPixels(channels: Int) -> Buffer {
        let pixels = count / channels
        // Rows of few pixels, so that kernels can pass them on in the cache.
        let width = (1...64).last { pixels.isMultiple(of: $0) } ?? 1
        return Buffer(
            shape: [1, channels, pixels / width, width], storage: storage, offset: offset)
    }
}
