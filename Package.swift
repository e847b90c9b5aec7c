// swift-tools-version: 6.2

import PackageDescription

// Module names must be unique among all packages of a program, so they have the prefix Retint. Here
// a target is named by its folder: Sources/Tensors/Graph is the module RetintGraph, and
// Sources/Tensors/CKernels is CRetintKernels.

/// `Graph` → `RetintGraph`, `CKernels` → `CRetintKernels`.
func module(_ name: String) -> String {
    if name.hasPrefix("Retint") { return name }
    let letters = Array(name)
    let isC = letters.count > 1 && letters[0] == "C" && letters[1].isUppercase && name != "CUDA"
    return isC ? "CRetint\(name.dropFirst())" : "Retint\(name)"
}

/// A target in the folder `place` of Sources.
func target(
    _ place: String, uses: [String] = [], products: [Target.Dependency] = [],
    exclude: [String] = [], resources: [Resource]? = nil, linkerSettings: [LinkerSetting]? = nil
) -> Target {
    .target(
        name: module(String(place.split(separator: "/").last!)),
        dependencies: uses.map { .byName(name: module($0)) } + products, path: "Sources/\(place)",
        exclude: exclude, resources: resources, linkerSettings: linkerSettings)
}

/// The test target in the folder `name` of Tests. Without the optimizer, tests are compiled in half
/// the time; those that compute much themselves need it.
func tests(
    _ name: String, uses: [String], helpers: [String] = [], products: [Target.Dependency] = [],
    exclude: [String] = [], isOptimized: Bool = false
) -> Target {
    .testTarget(
        name: name,
        dependencies: (uses + helpers).map { .byName(name: module($0)) } + products,
        path: "Tests/\(name)", exclude: exclude,
        swiftSettings: isOptimized ? nil : [.unsafeFlags(["-Onone"])])
}

/// What several test targets use, in the folder `name` of Tests.
func helper(
    _ name: String, uses: [String] = [], helpers: [String] = []
) -> Target {
    .target(
        name: module(name), dependencies: (uses + helpers).map { .byName(name: module($0)) },
        path: "Tests/\(name)")
}

/// A program that tests start, in the folder `name` of Tests.
func helperProgram(_ name: String, uses: [String], helpers: [String] = []) -> Target {
    .executableTarget(
        name: module(name), dependencies: (uses + helpers).map { .byName(name: module($0)) },
        path: "Tests/\(name)")
}

extension Target.Dependency {
    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let protobuf = product(name: "SwiftProtobuf", package: "swift-protobuf")
    static let subprocess = product(name: "Subprocess", package: "swift-subprocess")
    static let system = product(name: "SystemPackage", package: "swift-system")
    static let yams = product(name: "Yams", package: "Yams")
}

let packageFolder = Context.packageDirectory

// What Retint and RetintNetworks export. Targets that import them depend on these as well: SwiftPM
// compiles a target anew after changes of its own dependencies, not of what it sees through them.
let exportedByRetint = [
    "AIModel", "AppleRuntime", "Architectures", "Checkpoints", "Color", "Coloring", "DeviceRules",
    "Diff", "Distributed", "Engine", "Export", "Files", "Float64", "Graph", "Images", "Inspection",
    "MIL",
    "MLPackage", "Measuring", "NeuralNetwork", "ONNXReading", "ONNXWriting", "Pages", "PhotoData",
    "Quantization", "Runtime", "TensorFiles", "Tensors", "Training", "Verification", "Video",
]
let exportedByNetworks = ["Architectures", "Engine", "Graph", "Layers", "Tensors"]
let faces =
    ["Retint", "RetintNetworks"] + Set(exportedByRetint).union(exportedByNetworks).sorted()

let package = Package(
    name: "retint",
    products: [
        .executable(name: "retint", targets: ["RetintExecutable"]),
        .library(name: "Retint", targets: ["Retint"]),
        .library(name: "RetintNetworks", targets: ["RetintNetworks"]),
        // For a command line with your own architectures: see Scripts/Examples.
        .library(name: "RetintCLI", targets: ["RetintCLI"]),
        // For other languages: Sources/Retint/CLibrary/retint.h. Python's module uses it.
        .library(name: "RetintC", type: .dynamic, targets: ["RetintLibrary"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        // Without its default traits, which are not used: SwiftPM writes them into its commands in
        // an order that changes from build to build, and would compile it anew each time.
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
    ],
    targets: [
        // The system and files.
        target("Foundation/CSystem", linkerSettings: [.linkedLibrary("crypto")]),
        target("Foundation/Locks"),
        target("Foundation/Files", uses: ["CSystem", "Locks"], products: [.system]),

        // Tensors, graphs of operations on them, and what runs those.
        target("Tensors/Tensors"),
        target("Tensors/CDistributed", uses: ["CSystem"]),
        target("Tensors/Distributed", uses: ["CDistributed", "Files", "Locks"]),
        target("Tensors/Graph", uses: ["Files", "Tensors"]),
        target("Tensors/CKernels", uses: ["CSystem"]),
        .systemLibrary(
            name: "CRetintOpenBLAS", path: "Sources/Tensors/COpenBLAS", pkgConfig: "openblas",
            providers: [.apt(["libopenblas-dev"])]),
        target("Tensors/Compiler", uses: ["Distributed", "Graph", "Tensors"]),
        target(
            "Tensors/Engine",
            uses: [
                "CKernels", "COpenBLAS", "CUDA", "Compiler", "Distributed", "Float64", "Graph",
                "Locks", "Tensors",
            ]),
        target(
            "Tensors/Float64", uses: ["COpenBLAS", "Compiler", "Distributed", "Graph", "Tensors"]),
        target(
            "Tensors/CUDA",
            uses: ["Compiler", "Distributed", "Files", "Graph", "Locks", "Tensors"]),
        target("Tensors/Layers", uses: ["Graph", "Tensors"]),

        // Pictures and colors.
        target(
            "Images/CImageCodecs",
            uses: ["CSystem"],
            linkerSettings: ["jpeg", "png", "webp", "lcms2", "z"].map { .linkedLibrary($0) }),
        target("Images/Images", uses: ["CImageCodecs", "Files", "Locks"]),
        target("Images/CColor", uses: ["CSystem"]),
        target("Images/Color", uses: ["CColor", "Files"]),
        target(
            "Images/PhotoData",
            uses: ["Color", "Files", "Images", "Locks", "TensorFiles", "Tensors"]),

        // File formats of tensors and models.
        .systemLibrary(
            name: "CRetintHDF5", path: "Sources/Formats/CHDF5", pkgConfig: "hdf5",
            providers: [.apt(["libhdf5-dev"])]),
        target("Formats/TensorFiles", uses: ["CHDF5", "CSystem", "Files", "Locks", "Tensors"]),
        target(
            "Formats/Generated/CoreMLProto",
            products: [.protobuf],
            exclude: ["MIL.proto", "Model.proto", "NeuralNetwork.proto"]),
        target("Formats/Generated/ONNXProto", products: [.protobuf], exclude: ["ONNX.proto"]),
        target(
            "Formats/Generated/TensorBoardProto",
            products: [.protobuf],
            exclude: ["Event.proto"]),
        target(
            "Formats/MLPackage",
            uses: ["CoreMLProto", "Files"],
            products: [.protobuf, .system]),
        target("Formats/MIL", uses: ["Files", "Float64", "Graph", "MLPackage", "Tensors"]),
        target(
            "Formats/NeuralNetwork",
            uses: ["CoreMLProto", "Files", "MIL", "MLPackage"],
            products: [.protobuf, .system]),
        target(
            "Formats/ONNXReading",
            uses: ["Files", "Graph", "Layers", "ONNXProto", "TensorFiles", "Tensors"],
            products: [.protobuf, .system]),
        target(
            "Formats/ONNXWriting",
            uses: ["Files", "MIL", "MLPackage", "ONNXProto"],
            products: [.protobuf]),
        target("Formats/MLIRBytecode", uses: ["Files"]),
        target(
            "Formats/AIModel",
            uses: ["Files", "Graph", "MIL", "MLIRBytecode", "MLPackage", "Tensors"],
            products: [.system]),

        // Colorizers, their files, and models that run.
        target(
            "Networks/Architectures",
            uses: ["Color", "Files", "Graph", "Layers", "Locks", "ONNXReading", "Tensors"]),
        target(
            "Networks/Checkpoints",
            uses: [
                "AIModel", "Architectures", "Files", "Graph", "Layers", "MLPackage",
                "NeuralNetwork", "ONNXReading", "ONNXWriting", "TensorFiles", "Tensors",
            ]),
        target(
            "Networks/Export",
            uses: [
                "Architectures", "Checkpoints", "Files", "Graph", "Layers", "MIL",
                "MLPackage", "TensorFiles", "Tensors",
            ]),
        target(
            "Networks/Runtime",
            uses: [
                "Architectures", "Checkpoints", "Color", "Engine", "Export", "Files", "Float64",
                "Graph", "Locks", "MIL", "MLPackage", "ONNXReading", "Tensors",
            ]),

        // What people do with them.
        target("Tasks/Pages", uses: ["Files", "Images"]),
        target(
            "Tasks/AppleRuntime",
            uses: ["Files", "TensorFiles", "Tensors"],
            products: [.subprocess, .system],
            resources: [.embedInCode("run_aimodel.py")]),
        target("Tasks/DeviceRules", uses: ["Files", "MLPackage"]),
        target(
            "Tasks/Coloring",
            uses: [
                "Architectures", "Checkpoints", "Color", "Distributed", "Engine", "Export", "Files",
                "Graph", "Images", "Locks", "PhotoData", "Runtime", "Tensors",
            ]),
        target("Tasks/CMotion", uses: ["CSystem"]),
        target(
            "Tasks/Video",
            uses: [
                "CColor", "CMotion", "Color", "Coloring", "Engine", "Files", "Graph", "Images",
                "Locks", "PhotoData", "Runtime", "Tensors",
            ],
            products: [.subprocess, .system]),
        target(
            "Tasks/Inspection",
            uses: [
                "AppleRuntime", "Architectures", "CUDA", "Checkpoints", "DeviceRules",
                "Distributed", "Engine", "Files", "Graph", "Layers", "MIL", "MLPackage",
                "ONNXReading", "TensorFiles", "Tensors",
            ]),
        target(
            "Tasks/Training",
            uses: [
                "Architectures", "CUDA", "Checkpoints", "Color", "Compiler", "Distributed",
                "Engine", "Files", "Graph", "Images", "Layers", "Locks", "Pages", "PhotoData",
                "Runtime", "TensorBoardProto", "TensorFiles", "Tensors",
            ],
            products: [.protobuf, .yams]),
        target(
            "Tasks/Verification",
            uses: [
                "AppleRuntime", "Checkpoints", "Color", "Engine", "Export", "Files", "Float64",
                "Graph", "Layers", "MIL", "MLPackage", "ONNXReading", "Pages", "Runtime",
                "TensorFiles", "Tensors",
            ],
            products: [.system]),
        target(
            "Tasks/Diff",
            uses: [
                "Architectures", "Checkpoints", "Export", "Files", "Graph", "Inspection", "MIL",
                "MLPackage", "Runtime", "Tensors", "Verification",
            ]),
        target(
            "Tasks/Quantization",
            uses: [
                "Color", "Distributed", "Engine", "Files", "Graph", "MIL", "MLPackage", "Runtime",
                "Tensors",
            ],
            products: [.yams]),
        target(
            "Tasks/Measuring",
            uses: [
                "Architectures", "Checkpoints", "Color", "Coloring", "DeviceRules", "Distributed",
                "Engine", "Export", "Files", "Graph", "Images", "Layers", "Locks", "MLPackage",
                "PhotoData", "Quantization", "Runtime", "TensorFiles", "Tensors", "Training",
                "Video",
            ],
            products: [.system]),

        // The faces of the library, and the command line.
        target("Retint/Retint", uses: exportedByRetint),
        target("Retint/RetintNetworks", uses: exportedByNetworks),
        target("Retint/RetintCLI", uses: faces, products: [.argumentParser]),
        .systemLibrary(name: "CRetintLibrary", path: "Sources/Retint/CLibrary"),
        target(
            "Retint/Library", uses: ["CLibrary", "Retint", "RetintCLI"] + exportedByRetint,
            linkerSettings: [
                .unsafeFlags([
                    "-Xlinker",
                    "--version-script=\(packageFolder)/Sources/Retint/CLibrary/retint.map",
                ])
            ]),
        .executableTarget(
            name: "RetintExecutable", dependencies: ["RetintCLI"], path: "Sources/Retint/Executable"
        ),

        // Tests, and what they share.
        helper("CAllocationCounter"),
        helper(
            "CommandSupport",
            uses: [
                "Architectures", "Checkpoints", "Graph", "Images", "Layers", "TensorFiles", "Video",
            ],
            helpers: ["TestSupport"]),
        helperProgram(
            "ONNXCaseWriter",
            uses: ["Graph", "MIL", "MLPackage", "ONNXWriting"],
            helpers: ["ONNXCases", "PackageSupport"]),
        helper(
            "ONNXCases",
            uses: ["Graph", "MIL", "MLPackage", "Tensors"],
            helpers: ["PackageSupport"]),
        helper("OperationCases", uses: ["Graph", "Tensors"]),
        helper(
            "PackageSupport",
            uses: ["Engine", "Graph", "MIL", "MLPackage", "Tensors"],
            helpers: ["OperationCases"]),
        helperProgram(
            "GPUProbe", uses: ["Engine", "Graph", "RetintCLI", "Tensors"],
            helpers: ["OperationCases"]),
        helperProgram("RanksProbe", uses: ["Distributed"]),
        helper("TestSupport", uses: ["Distributed", "Tensors"]),
        tests(
            "AIModelTests",
            uses: [
                "AIModel", "Engine", "Files", "Graph", "MIL", "MLIRBytecode", "MLPackage",
                "Tensors",
            ],
            helpers: ["OperationCases", "PackageSupport", "TestSupport"],
            exclude: ["Goldens"]),
        tests("AppleRuntimeTests", uses: ["AppleRuntime", "Tensors"], helpers: ["TestSupport"]),
        tests(
            "ArchitecturesTests",
            uses: [
                "Architectures", "Checkpoints", "Engine", "Files", "Graph", "Layers",
                "ONNXReading", "TensorFiles", "Tensors",
            ],
            helpers: ["CAllocationCounter", "TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "ColorTests", uses: ["Color"], helpers: ["TestSupport"], exclude: ["Goldens"],
            isOptimized: true),
        tests(
            "CommandColorTests", uses: faces, helpers: ["CommandSupport", "TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "CommandTests", uses: ["RetintCLI"] + faces,
            helpers: ["CommandSupport", "TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "CommandVerifyTests", uses: faces, helpers: ["CommandSupport", "TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "DeviceRulesTests",
            uses: [
                "Checkpoints", "DeviceRules", "Engine", "Export", "Graph", "MIL", "MLPackage",
                "Tensors",
            ],
            helpers: ["PackageSupport"]),
        tests("DistributedTests", uses: ["Distributed"], helpers: ["TestSupport"]),
        tests(
            "ExportTests",
            uses: [
                "Architectures", "Checkpoints", "Engine", "Export", "Files", "Graph", "Layers",
                "MIL", "MLPackage", "TensorFiles", "Tensors",
            ],
            helpers: ["PackageSupport", "TestSupport"],
            exclude: ["Goldens"]),
        tests("FilesTests", uses: ["Files"], helpers: ["TestSupport"], products: [.system]),
        tests("GraphTests", uses: ["Graph", "Tensors"]),
        tests(
            "ImagesTests",
            uses: ["Files", "Images"],
            helpers: ["TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "MILTests",
            uses: ["Engine", "Graph", "MIL", "MLPackage", "Tensors"],
            helpers: ["OperationCases", "PackageSupport", "TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "MLPackageTests",
            uses: ["CoreMLProto", "MLPackage"],
            helpers: ["TestSupport"],
            products: [.protobuf, .system],
            exclude: ["Goldens"]),
        tests(
            "NeuralNetworkTests",
            uses: [
                "CoreMLProto", "Engine", "Files", "Graph", "MIL", "MLPackage", "NeuralNetwork",
                "Tensors",
            ],
            helpers: ["PackageSupport", "TestSupport"],
            products: [.protobuf],
            exclude: ["Goldens"]),
        tests(
            "ONNXReadingTests",
            uses: [
                "Engine", "Files", "Graph", "MIL", "MLPackage", "ONNXProto", "ONNXReading",
                "ONNXWriting", "TensorFiles", "Tensors",
            ],
            helpers: ["ONNXCases", "OperationCases", "PackageSupport", "TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "ONNXWritingTests",
            uses: ["Files", "MIL", "MLPackage", "ONNXProto", "ONNXWriting"],
            helpers: ["ONNXCases", "TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "OperationTests",
            uses: [
                "CKernels", "CUDA", "Compiler", "Distributed", "Engine", "Float64", "Graph",
                "Tensors",
            ],
            helpers: ["OperationCases", "TestSupport"],
            exclude: ["Goldens"], isOptimized: true),
        tests(
            "PhotoDataTests",
            uses: ["Color", "Files", "Images", "PhotoData", "TensorFiles"],
            helpers: ["TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "QuantizationTests",
            uses: [
                "Checkpoints", "Engine", "Export", "Files", "Graph", "MIL", "MLPackage",
                "Quantization", "Runtime", "Tensors",
            ],
            helpers: ["PackageSupport", "TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "RuntimeTests",
            uses: [
                "Checkpoints", "Color", "Engine", "Export", "Files", "Graph", "Images",
                "MLPackage", "Runtime", "TensorFiles",
            ],
            helpers: ["TestSupport"]),
        tests(
            "TensorFilesTests",
            uses: ["CSystem", "Files", "Graph", "TensorFiles", "Tensors"],
            helpers: ["TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "TrainingTests",
            uses: [
                "Architectures", "CUDA", "Checkpoints", "Color", "Compiler", "Distributed",
                "Engine", "Files", "Graph", "Images", "Layers", "PhotoData", "Runtime",
                "TensorBoardProto", "TensorFiles", "Tensors", "Training",
            ],
            helpers: ["OperationCases", "TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "VerificationTests",
            uses: [
                "Architectures", "Checkpoints", "Engine", "Export", "Float64", "Graph", "MIL",
                "MLPackage", "Runtime", "TensorFiles", "Tensors", "Verification",
            ],
            helpers: ["OperationCases", "PackageSupport", "TestSupport"],
            exclude: ["Goldens"]),
        tests(
            "VideoTests",
            uses: ["Color", "Files", "Video"],
            helpers: ["TestSupport"],
            exclude: ["Frames/Goldens"]),
    ]
)
