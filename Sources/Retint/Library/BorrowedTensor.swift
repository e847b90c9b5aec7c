import CRetintLibrary
import Foundation
import Retint
import RetintTensorFiles
import RetintTensors

/// Why what a caller passes cannot be used.
typealias ArgumentError = Refusal<Fault>

/// The type of a tensor's elements in memory.
private enum ElementKind {
    case stored(StoredType)
    case bool

    init?(_ type: Int32) {
        switch Int(type) {
        case Int(RETINT_FLOAT32): self = .stored(.float32)
        case Int(RETINT_FLOAT64): self = .stored(.float64)
        case Int(RETINT_FLOAT16): self = .stored(.float16)
        case Int(RETINT_BFLOAT16): self = .stored(.bfloat16)
        case Int(RETINT_INT64): self = .stored(.int64)
        case Int(RETINT_INT32): self = .stored(.int32)
        case Int(RETINT_INT16): self = .stored(.int16)
        case Int(RETINT_INT8): self = .stored(.int8)
        case Int(RETINT_UINT8): self = .stored(.uint8)
        case Int(RETINT_BOOL): self = .bool
        default: return nil
        }
    }

    var type: StoredType {
        if case .stored(let type) = self { type } else { .uint8 }
    }
}

/// Copies tensors out of the caller's memory.
///
/// - Throws: ``ArgumentError`` for a missing pointer, an unknown type, or a shape that no tensor
///   has. Whether the memory is there cannot be checked.
func copied(
    _ tensors: UnsafePointer<retint_tensor>?, _ count: Int32
) throws(ArgumentError) -> [(name: String, tensor: StoredTensor)] {
    guard count > 0 else { return [] }
    guard let tensors else {
        throw ArgumentError(.usage, rule: "there is no pointer to the tensors")
    }
    guard count <= 100_000 else {
        throw ArgumentError(
            .usage, rule: "\(count) tensors are more than the 100,000 that are allowed")
    }
    var result: [(String, StoredTensor)] = []
    for index in 0..<Int(count) { result.append(try copied(tensors[index])) }
    return result
}

private func copied(
    _ tensor: retint_tensor
) throws(ArgumentError) -> (String, StoredTensor) {
    guard let pointer = tensor.name, let name = String(validatingCString: pointer), !name.isEmpty
    else { throw ArgumentError(.usage, rule: "a tensor has no valid UTF-8 name") }
    func refusal(_ problem: String) -> ArgumentError {
        ArgumentError(.usage, rule: "tensor \(name): \(problem)")
    }
    guard let kind = ElementKind(tensor.type) else {
        throw refusal("has the unknown type \(tensor.type)")
    }
    guard 0...8 ~= tensor.rank, tensor.rank == 0 || tensor.shape != nil else {
        throw refusal("has rank \(tensor.rank); at most 8 axes are possible")
    }
    let extents = (0..<Int(tensor.rank)).map { Int(tensor.shape[$0]) }
    let width = kind.type.byteCount
    var count = 1
    for extent in extents {
        let (product, overflows) = count.multipliedReportingOverflow(by: extent)
        guard extent > 0, !overflows, product <= 1 << 34 else {
            throw refusal("cannot have the shape \(extents)")
        }
        count = product
    }
    guard let data = tensor.data else { throw refusal("has no data") }
    let strides = tensor.strides.map { strides in extents.indices.map { Int(strides[$0]) } }
    let bytes = packedBytes(data, extents, strides, width: width)
    let elements: StoredTensor.Elements
    do {
        elements = try StoredTensor.Elements(littleEndian: bytes, as: kind.type, name: name)
    } catch {
        throw refusal("\(error)")
    }
    let shape = Shape(extents)
    switch elements {
    case .float32(let floats): return (name, StoredTensor(shape: shape, floats: floats))
    case .int64(let integers):
        if case .bool = kind {
            return (name, StoredTensor(shape: shape, integers: integers.map { $0 == 0 ? 0 : 1 }))
        }
        return (name, StoredTensor(shape: shape, integers: integers))
    }
}

/// The elements in C order without gaps.
///
/// - Parameter strides: in bytes; nil: there are no gaps.
private func packedBytes(
    _ data: UnsafeRawPointer, _ extents: [Int], _ strides: [Int]?, width: Int
) -> [UInt8] {
    let count = extents.reduce(width, *)
    // Runs of elements that lie one after the other are copied together.
    var (run, axes) = (width, extents.count)
    while axes > 0, strides.map({ $0[axes - 1] == run || extents[axes - 1] == 1 }) ?? true {
        run *= extents[axes - 1]
        axes -= 1
    }
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        guard let target = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
        var index = [Int](repeating: 0, count: axes)
        var source = 0
        for place in stride(from: 0, to: count, by: run) {
            (target + place).copyMemory(from: data + source, byteCount: run)
            for axis in stride(from: axes - 1, through: 0, by: -1) {
                let step = strides?[axis] ?? 0
                index[axis] += 1
                source &+= step
                guard index[axis] == extents[axis] else { break }
                source &-= step &* extents[axis]
                index[axis] = 0
            }
        }
        initialized = count
    }
}

/// A tensor whose memory the caller may read until its call is released.
final class BorrowedTensor: Sendable {
    private let memory: Memory

    private struct Memory: @unchecked Sendable {
        let name: UnsafeMutablePointer<CChar>
        let data: UnsafeMutableBufferPointer<Float>
        let shape: UnsafeMutableBufferPointer<Int64>
    }

    init(_ tensor: NamedTensor) {
        let data = UnsafeMutableBufferPointer<Float>.allocate(capacity: tensor.data.scalars.count)
        _ = data.initialize(from: tensor.data.scalars)
        let shape = UnsafeMutableBufferPointer<Int64>.allocate(capacity: tensor.data.shape.rank)
        _ = shape.initialize(from: tensor.data.shape.dimensions.map(Int64.init))
        memory = Memory(name: strdup(tensor.name), data: data, shape: shape)
    }

    deinit {
        free(memory.name)
        memory.data.deallocate()
        memory.shape.deallocate()
    }

    var tensor: retint_tensor {
        retint_tensor(
            name: memory.name, data: memory.data.baseAddress, type: Int32(RETINT_FLOAT32),
            rank: Int32(memory.shape.count), shape: memory.shape.baseAddress, strides: nil)
    }
}

extension StoredTensor {
    /// The elements as the engine computes with them.
    var asFloats: TensorData {
        switch elements {
        case .float32(let floats): TensorData(shape: shape, scalars: floats)
        case .int64(let integers): TensorData(shape: shape, scalars: integers.map(Float.init))
        }
    }
}

/// Writes tensors to an HDF5 file, which appears once it is complete.
func writeHDF5(_ tensors: [(name: String, tensor: StoredTensor)], to path: String) throws {
    let writer = try HDF5Writer(path: path)
    for (name, tensor) in tensors { try writer.write(tensor, to: name) }
    try writer.finish()
}
