import Glibc
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
        if kind == .owned { pointer = Self.zeros(max(count, 1)) }
    }

    /// From so many bytes on, memory comes from the system itself: as zeros, when it is touched, by
    /// whichever thread does, and in large pages where it has them.
    private static let largeBytes = 4 << 20

    private static func zeros(_ count: Int) -> UnsafeMutablePointer<Float> {
        let bytes = count * MemoryLayout<Float>.stride
        let memory = bytes < largeBytes ? calloc(bytes, 1) : pages(bytes)
        guard let memory else { preconditionFailure("no memory for \(count) numbers") }
        return memory.bindMemory(to: Float.self, capacity: count)
    }

    private static func pages(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let access = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS)
        let memory = mmap(nil, bytes, access.0, access.1, -1, 0)
        guard let memory, Int(bitPattern: memory) != -1 else { return nil }
        madvise(memory, bytes, MADV_HUGEPAGE)
        return memory
    }

    deinit {
        guard kind == .owned else { return }
        let bytes = max(count, 1) * MemoryLayout<Float>.stride
        if bytes < Self.largeBytes { free(pointer) } else { munmap(pointer, bytes) }
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
