import Glibc
import TensorGraph

/// Memory for the elements of one value, or of several with disjoint lifetimes.
final class Storage {
    enum Kind {
        /// Placed in the program's arena by the memory plan.
        case arena
        /// Allocated for itself: variables and constants, which live from run to run.
        case owned
    }

    let kind: Kind
    let count: Int
    /// Set once the program is bound.
    fileprivate(set) var pointer: UnsafeMutablePointer<Float>!
    /// The first and the last step that use the storage.
    var lifetime: ClosedRange<Int>?
    /// The storage that holds the elements instead, where a step writes over another value.
    var host: Storage?

    /// - Returns: nil if the system has no memory for it.
    init?(kind: Kind, count: Int) {
        self.kind = kind
        self.count = count
        guard kind == .owned else { return }
        guard let zeros = Self.zeros(max(count, 1)) else { return nil }
        pointer = zeros
    }

    /// Larger blocks are mapped from the system: zeroed when first touched, near the thread that
    /// touches them, and in huge pages where there are any.
    private static let largeBytes = 4 << 20

    private static func zeros(_ count: Int) -> UnsafeMutablePointer<Float>? {
        let bytes = count * MemoryLayout<Float>.stride
        let memory = bytes < largeBytes ? calloc(bytes, 1) : pages(bytes)
        return memory?.bindMemory(to: Float.self, capacity: count)
    }

    private static func pages(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let access = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS)
        let memory = mmap(nil, bytes, access.0, access.1, -1, 0)
        guard let memory, Int(bitPattern: memory) != -1 else { return nil }
        madvise(memory, bytes, MADV_HUGEPAGE)
        return memory
    }

    /// Gives the memory back to the system, which fills it with zeros when it is touched again.
    /// Elements on pages that are shared with others are left as they are.
    func release() {
        let page = Int(getpagesize())
        let start = UnsafeMutableRawPointer(pointer).alignedUp(toMultipleOf: page)
        let end = UnsafeMutableRawPointer(pointer + count).alignedDown(toMultipleOf: page)
        if start < end { madvise(start, end - start, MADV_DONTNEED) }
    }

    deinit {
        guard kind == .owned, pointer != nil else { return }
        let bytes = max(count, 1) * MemoryLayout<Float>.stride
        if bytes < Self.largeBytes { free(pointer) } else { munmap(pointer, bytes) }
    }

    /// The storage that holds the elements.
    var root: Storage { host?.root ?? self }

    func bind(to pointer: UnsafeMutablePointer<Float>) {
        self.pointer = pointer
    }

    func use(at step: Int) {
        let old = lifetime ?? step...step
        lifetime = min(old.lowerBound, step)...max(old.upperBound, step)
    }
}

/// A value in memory: a shape over a storage.
struct Buffer {
    let shape: Shape
    let storage: Storage

    var count: Int { shape.count }
    var pointer: UnsafeMutablePointer<Float> { storage.root.pointer }
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
