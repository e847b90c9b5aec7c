/// NVIDIA's convolutions: cuDNN's backend API (cudnn_graph.h), in which everything is a descriptor
/// with attributes.
struct CuDNN: @unchecked Sendable {
    typealias Status = Int32
    typealias Handle = OpaquePointer
    typealias Out<Value> = UnsafeMutablePointer<Value>

    private let library: CUDALibrary
    /// As 91400 for 9.14.
    let version: Int
    fileprivate let create: @convention(c) (Int32, Out<Handle?>) -> Status
    fileprivate let destroy: @convention(c) (Handle) -> Status
    fileprivate let finalize: @convention(c) (Handle) -> Status
    fileprivate let set: @convention(c) (Handle, Int32, Int32, Int64, UnsafeRawPointer) -> Status
    fileprivate let get:
        @convention(c) (Handle, Int32, Int32, Int64, Out<Int64>, UnsafeMutableRawPointer) -> Status
    private let execute: @convention(c) (Handle, Handle, Handle) -> Status
    private let statusText: @convention(c) (Status) -> UnsafePointer<CChar>?
    private let lastMessage: @convention(c) (UnsafeMutablePointer<CChar>, Int) -> Void
    private let start: @convention(c) (Out<Handle?>) -> Status
    private let setStream: @convention(c) (Handle, OpaquePointer) -> Status

    /// - Throws: ``CUDAError`` if it is missing or too old.
    init(
        environment: (String) -> String? = CUDALibrary.environment
    ) throws(CUDAError) {
        library = try CUDALibrary(.cuDNN, environment: environment)
        let readVersion: @convention(c) () -> Int = try library.function("cudnnGetVersion")
        version = readVersion()
        create = try library.function("cudnnBackendCreateDescriptor")
        destroy = try library.function("cudnnBackendDestroyDescriptor")
        finalize = try library.function("cudnnBackendFinalize")
        set = try library.function("cudnnBackendSetAttribute")
        get = try library.function("cudnnBackendGetAttribute")
        execute = try library.function("cudnnBackendExecute")
        statusText = try library.function("cudnnGetErrorString")
        lastMessage = try library.function("cudnnGetLastErrorString")
        start = try library.function("cudnnCreate")
        setStream = try library.function("cudnnSetStream")
    }

    var versionText: String { "\(version / 10_000).\(version / 100 % 100)" }

    /// A handle for plans that run on a stream of the current GPU.
    ///
    /// - Throws: ``CUDAError`` if cuDNN does not start there.
    func handle(on stream: OpaquePointer) throws(CUDAError) -> Handle {
        var handle: Handle?
        try check(start(&handle), "starting")
        guard let handle else { throw CUDAError("cuDNN: there is no handle") }
        try check(setStream(handle, stream), "setting its stream")
        return handle
    }

    func check(_ status: Status, _ action: @autoclosure () -> String) throws(CUDAError) {
        guard status != 0 else { return }
        let text = statusText(status).map { String(cString: $0) } ?? "error \(status)"
        var characters = [CChar](repeating: 0, count: 512)
        lastMessage(&characters, characters.count - 1)
        let message = String(written: characters)
        throw CUDAError(
            "cuDNN \(versionText): \(action()): \(text)"
                + (message.isEmpty ? "" : " (\(message))"))
    }

    /// Starts a plan on the stream of its handle.
    func run(_ plan: ConvolutionPlan, _ pack: CuDNNDescriptor, _ handle: Handle) -> Status {
        execute(handle, plan.descriptor.handle, pack.handle)
    }
}

/// A descriptor of the backend API, destroyed with this object.
final class CuDNNDescriptor: @unchecked Sendable {
    /// `cudnnBackendDescriptorType_t`.
    enum Kind: Int32 {
        case convolution = 1
        case engine = 2
        case engineConfiguration = 3
        case engineHeuristic = 4
        case executionPlan = 5
        case forward = 10
        case weightGradient = 11
        case dataGradient = 12
        case operationGraph = 15
        case variantPack = 16
        case tensor = 17
        case deviceProperties = 38
    }

    /// `cudnnBackendAttributeType_t`.
    enum ValueType: Int32 {
        case handle = 0
        case dataType = 1
        case int64 = 3
        case float = 4
        case pointer = 6
        case convolutionMode = 7
        case heuristicMode = 8
        case numericalNote = 11
        case descriptor = 15
        case characters = 24
    }

    private let library: CuDNN
    let handle: OpaquePointer
    /// What it refers to, or comes from, which must live as long.
    private var parts: [CuDNNDescriptor] = []

    init(_ kind: Kind, _ library: CuDNN) throws(CUDAError) {
        var made: OpaquePointer?
        try library.check(library.create(kind.rawValue, &made), "creating a descriptor")
        guard let made else { throw CUDAError("cuDNN: there is no descriptor") }
        (self.library, handle) = (library, made)
    }

    deinit { _ = library.destroy(handle) }

    func set<Value>(
        _ attribute: Int32, _ type: ValueType, _ values: [Value]
    ) throws(CUDAError) {
        let status = values.withUnsafeBytes { bytes in
            bytes.baseAddress.map {
                library.set(handle, attribute, type.rawValue, Int64(values.count), $0)
            } ?? 0
        }
        try library.check(status, "setting attribute \(attribute)")
    }

    func set(_ attribute: Int32, _ descriptor: CuDNNDescriptor) throws(CUDAError) {
        parts.append(descriptor)
        try set(attribute, .descriptor, [descriptor.handle])
    }

    func finalize(_ what: String) throws(CUDAError) {
        try library.check(library.finalize(handle), what)
    }

    /// Values of an attribute, at most as many as given; their memory is replaced.
    func get<Value>(
        _ attribute: Int32, _ type: ValueType, _ values: [Value]
    ) throws(CUDAError) -> [Value] {
        var (values, count) = (values, Int64(0))
        let status = values.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map {
                library.get(
                    handle, attribute, type.rawValue,
                    Int64(bytes.count / MemoryLayout<Value>.stride), &count, $0)
            } ?? 0
        }
        try library.check(status, "reading attribute \(attribute)")
        return Array(values.prefix(Int(count)))
    }

    /// Descriptors that an attribute has, at most `count`.
    func descriptors(
        _ attribute: Int32, _ kind: Kind, count: Int
    ) throws(CUDAError) -> [CuDNNDescriptor] {
        var made: [CuDNNDescriptor] = []
        for _ in 0..<count { made.append(try CuDNNDescriptor(kind, library)) }
        let found = try get(attribute, .descriptor, made.map(\.handle))
        for descriptor in made { descriptor.parts.append(self) }
        return Array(made.prefix(found.count))
    }
}
