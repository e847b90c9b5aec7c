import RetintCompiler
import RetintGraph
import RetintTensors

extension Storage {
    /// The memory that the program has bound it to. Kernels read this in each run, on all threads:
    /// it must not touch a reference count, for which the threads would compete.
    var pointer: UnsafeMutablePointer<Float> {
        UnsafeMutablePointer(bitPattern: address).unsafelyUnwrapped
    }
}

extension Buffer {
    /// Where its elements are.
    var pointer: UnsafeMutablePointer<Float> { storage.pointer + offset }

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
