/// What of CUDA is on this machine.
package struct CUDAInspection: Sendable {
    /// A library, and where it is, or why it cannot be used.
    package struct Library: Sendable {
        package let name: String
        /// Its path, or its name if the system's loader finds it; nil if there is none.
        package let path: String?
        package let version: String?
        package let problem: String?
    }

    package let libraries: [Library]
    /// The GPUs of the driver, in its order.
    package let gpus: [(name: String, computeCapability: Int, memoryBytes: Int)]

    /// Loads what there is. The driver is started, but no GPU.
    package init() {
        var (driver, libraries) = (Driver?.none, [Library]())
        func add(_ kind: CUDALibrary.Kind, _ version: (CUDALibrary) throws(CUDAError) -> String?) {
            do throws(CUDAError) {
                let library = try CUDALibrary(kind)
                libraries.append(
                    Library(
                        name: kind.name, path: library.path, version: try version(library),
                        problem: nil))
            } catch {
                libraries.append(
                    Library(
                        name: kind.name, path: nil, version: nil, problem: error.description))
            }
        }
        add(.driver) { _ throws(CUDAError) in
            let started = try Driver()
            driver = started
            return "for CUDA \(started.versionText)"
        }
        add(.nvrtc) { library throws(CUDAError) in try NVRTC(library).version }
        add(.cuBLASLt) { _ in nil }
        add(.cuDNN) { _ throws(CUDAError) in try CuDNN().versionText }
        self.libraries = libraries
        gpus = (try? driver?.devices()) ?? []
    }
}

extension Driver {
    /// The number of GPUs.
    func count() throws(CUDAError) -> Int {
        var count: Int32 = 0
        try check(deviceCount(&count), "counting GPUs")
        return Int(count)
    }

    /// The GPUs, without starting them.
    fileprivate func devices() throws(CUDAError) -> [(String, Int, Int)] {
        var devices: [(String, Int, Int)] = []
        for index in 0..<(try count()) {
            let device = try Device(Int32(index), self)
            devices.append((device.name, device.computeCapability, device.memoryBytes))
        }
        return devices
    }

    /// What the driver says of a GPU.
    struct Device {
        let handle: Int32
        let name: String
        /// 90 for an H100.
        let computeCapability: Int
        let multiprocessors: Int
        let memoryBytes: Int

        init(_ index: Int32, _ driver: Driver) throws(CUDAError) {
            var device: Int32 = 0
            try driver.check(driver.device(&device, index), "opening GPU \(index)")
            var characters = [CChar](repeating: 0, count: 256)
            try driver.check(driver.deviceName(&characters, 255, device), "asking for a name")
            name = String(written: characters)
            func attribute(_ number: Int32) throws(CUDAError) -> Int {
                var value: Int32 = 0
                try driver.check(
                    driver.deviceAttribute(&value, number, device), "asking for limits")
                return Int(value)
            }
            let (major, minor, processors): (Int32, Int32, Int32) = (75, 76, 16)
            computeCapability = try attribute(major) * 10 + attribute(minor)
            multiprocessors = try attribute(processors)
            var bytes = 0
            try driver.check(driver.deviceMemory(&bytes, device), "asking for memory")
            (memoryBytes, handle) = (bytes, device)
        }
    }
}
