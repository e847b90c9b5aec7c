import Glibc

/// Memory from the system, filled with zeros.
enum FloatMemory {
    /// Larger blocks are mapped from the system: zeroed when first touched, near the thread that
    /// touches them, and in huge pages if available.
    private static let largeBytes = 4 << 20
    /// Cache lines are not shared.
    private static let alignment = 64

    /// - Returns: nil if the system has no memory for that many floats.
    static func allocate(_ count: Int) -> UnsafeMutablePointer<Float>? {
        let bytes = bytes(count)
        let memory = bytes < largeBytes ? block(bytes) : pages(bytes)
        return memory?.bindMemory(to: Float.self, capacity: count)
    }

    /// Frees memory that ``allocate(_:)`` returned for this count.
    static func free(_ memory: UnsafeMutablePointer<Float>, _ count: Int) {
        let bytes = bytes(count)
        if bytes < largeBytes { Glibc.free(memory) } else { munmap(memory, bytes) }
    }

    private static func bytes(_ count: Int) -> Int {
        max(count, 1) * MemoryLayout<Float>.stride
    }

    private static func block(_ bytes: Int) -> UnsafeMutableRawPointer? {
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, alignment, bytes) == 0, let memory else { return nil }
        memset(memory, 0, bytes)
        return memory
    }

    private static func pages(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let access = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS)
        let memory = mmap(nil, bytes, access.0, access.1, -1, 0)
        guard let memory, Int(bitPattern: memory) != -1 else { return nil }
        madvise(memory, bytes, MADV_HUGEPAGE)
        return memory
    }
}
