// swift-tools-version: 6.2

import PackageDescription

// What Retint exports. Targets that import Retint depend on these as well: SwiftPM compiles a
// target anew after changes of its own dependencies, not of what it sees through them.
let exportedByRetint: [Target.Dependency] = [
    "AIModel", "Checkpoints", "ColorScience", "ColorizerExport", "Colorizers", "CoreAIRuntime",
    "Engine", "Files", "Films", "Frames", "ImageIO", "Layers", "MIL", "MLPackage", "Models", "ONNX",
    "ONNXExport", "Photos", "Placement", "Quantization", "Ranks", "Reports", "TensorFiles",
    "TensorGraph", "Training", "Verification", "Version",
]

let package = Package(
    name: "retint",
    products: [
        .executable(name: "retint", targets: ["RetintExecutable"]),
        .library(name: "Retint", targets: ["Retint"]),
        // For architectures of one's own: see Scripts/Examples.
        .library(
            name: "RetintCLI", targets: ["RetintCLI", "Colorizers", "Layers", "TensorGraph"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
    ],
    targets: [
        // System libraries.
        .systemLibrary(
            name: "COpenBLAS", pkgConfig: "openblas", providers: [.apt(["libopenblas-dev"])]),
        .systemLibrary(name: "CHDF5", pkgConfig: "hdf5", providers: [.apt(["libhdf5-dev"])]),

        // C functions in versions for several CPUs.
        .target(name: "CClones"),
        // A lock that the thread sanitizer can see.
        .target(name: "Locks"),
        .target(name: "Version"),

        // Pictures and colors.
        .target(
            name: "CImageCodecs", dependencies: ["CClones"],
            linkerSettings: [
                .linkedLibrary("jpeg"), .linkedLibrary("png"), .linkedLibrary("webp"),
                .linkedLibrary("lcms2"), .linkedLibrary("z"),
            ]),
        .target(name: "ImageIO", dependencies: ["CImageCodecs", "Files", "Locks"]),
        .target(name: "CColorScience", dependencies: ["CClones"]),
        .target(name: "ColorScience", dependencies: ["CColorScience"]),
        .target(
            name: "Frames",
            dependencies: ["Locks", "CColorScience", "ColorScience", "ImageIO", "Files"]),
        // Where the pixels of a film's frames come from.
        .target(name: "CMotion", dependencies: ["CClones"]),
        .target(name: "Motion", dependencies: ["CMotion"]),
        .target(
            name: "Films",
            dependencies: [
                "Frames", "Files", .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),

        // The processes of a job, and the messages between them.
        .target(name: "CRanks", dependencies: ["CClones"]),
        .target(name: "Ranks", dependencies: ["CRanks", "Locks"]),

        // The graph and the engine that runs it.
        .target(name: "TensorGraph", dependencies: ["Ranks"]),
        .target(name: "CKernels", dependencies: ["CClones"]),
        .target(
            name: "Engine",
            dependencies: ["Locks", "Ranks", "TensorGraph", "CKernels", "COpenBLAS"]),
        .target(name: "Layers", dependencies: ["TensorGraph"]),
        .target(
            name: "Colorizers",
            dependencies: ["Locks", "ONNX", "Layers", "TensorGraph", "ColorScience", "Files"]),

        // Files.
        .target(name: "CFiles"),
        .target(
            name: "Files",
            dependencies: [
                "Locks", "CFiles", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        // The processes in which libhdf5 reads.
        .target(name: "CProcesses"),
        .target(
            name: "TensorFiles",
            dependencies: ["CHDF5", "CProcesses", "Files", "Locks", "TensorGraph"]),
        // Another program that runs models.
        .target(
            name: "CoreAIRuntime",
            dependencies: [
                "Files", "TensorFiles", "TensorGraph",
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            resources: [.embedInCode("run_aimodel.py")]),
        .target(
            name: "Checkpoints",
            dependencies: ["TensorFiles", "Files", "Colorizers", "Layers", "TensorGraph"]),
        .target(
            name: "CoreMLProto",
            dependencies: [.product(name: "SwiftProtobuf", package: "swift-protobuf")],
            exclude: ["MIL.proto", "Model.proto"]),
        .target(
            name: "ONNXProto",
            dependencies: [.product(name: "SwiftProtobuf", package: "swift-protobuf")],
            exclude: ["ONNX.proto"]),
        .target(
            name: "ONNX",
            dependencies: [
                "ONNXProto", "TensorFiles", "Layers", "TensorGraph", "Files",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .target(
            name: "MLPackage",
            dependencies: [
                "CoreMLProto", "Files",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .target(
            name: "MIL", dependencies: ["Files", "MLPackage", "TensorGraph"],
            plugins: ["ListMILForms"]),
        .plugin(name: "ListMILForms", capability: .buildTool()),
        .target(
            name: "ONNXExport",
            dependencies: [
                "ONNXProto", "MIL", "MLPackage", "Files",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ]),
        // Apple's Core AI.
        .target(name: "MLIRBytecode", dependencies: ["Files"]),
        .target(
            name: "AIModel",
            dependencies: [
                "MLIRBytecode", "MIL", "MLPackage", "TensorGraph", "Files",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .target(name: "Placement", dependencies: ["MLPackage"]),
        .target(
            name: "ColorizerExport",
            dependencies: [
                "AIModel", "Files", "MIL", "MLPackage", "Checkpoints", "TensorFiles", "Colorizers",
                "Layers", "TensorGraph", "Version",
            ]),

        // The one runnable model, and photos.
        .target(
            name: "Models",
            dependencies: [
                "AIModel", "ColorizerExport", "MIL", "Checkpoints", "MLPackage", "Engine",
                "Colorizers", "TensorGraph", "ColorScience", "Files",
            ]),
        .target(
            name: "Photos",
            dependencies: [
                "Locks", "ImageIO", "ColorScience", "TensorFiles", "TensorGraph", "Layers", "Files",
            ]),

        .target(
            name: "Quantization",
            dependencies: [
                "Models", "MIL", "MLPackage", "Engine", "Ranks", "TensorGraph", "ColorScience",
                "Files",
                .product(name: "Yams", package: "Yams"),
            ]),

        // Pages for people to look at.
        .target(name: "Reports", dependencies: ["ImageIO", "Files"]),

        // What people do with them.
        .target(name: "Retint", dependencies: exportedByRetint + ["Locks", "Motion"]),
        .target(
            name: "Verification",
            dependencies: [
                "CoreAIRuntime", "Models", "ColorizerExport", "MIL", "MLPackage", "Engine",
                "Layers", "TensorGraph",
                "ColorScience", "TensorFiles", "Files",
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .target(
            name: "TensorBoardProto",
            dependencies: [.product(name: "SwiftProtobuf", package: "swift-protobuf")],
            exclude: ["Event.proto"]),
        .target(
            name: "Training",
            dependencies: [
                "Locks", "Models", "Photos", "Checkpoints", "Colorizers", "Layers", "Engine",
                "Ranks", "TensorGraph", "ColorScience", "ImageIO", "TensorFiles", "Files",
                "TensorBoardProto", "Reports",
                .product(name: "Yams", package: "Yams"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ]),
        .target(
            name: "RetintCLI",
            dependencies: exportedByRetint + [
                "Retint", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(name: "RetintExecutable", dependencies: ["RetintCLI"]),

        // Tests.
        .target(name: "TestSupport", dependencies: ["Ranks"], path: "Tests/TestSupport"),
        .target(
            name: "PackageSupport",
            dependencies: ["OperationCases", "Engine", "MIL", "MLPackage", "TensorGraph"],
            path: "Tests/PackageSupport"),
        .testTarget(
            name: "RanksTests", dependencies: ["Ranks", "RanksProbe", "TestSupport"]),
        .executableTarget(name: "RanksProbe", dependencies: ["Ranks"], path: "Tests/RanksProbe"),
        .testTarget(name: "TensorGraphTests", dependencies: ["TensorGraph"]),
        .testTarget(
            name: "OperationTests",
            dependencies: [
                "OperationCases", "TensorGraph", "Engine", "CKernels", "Ranks", "TestSupport",
            ],
            exclude: ["Goldens"]),
        .target(
            name: "OperationCases", dependencies: ["TensorGraph"], path: "Tests/OperationCases"),
        .testTarget(
            name: "ColorizersTests",
            dependencies: [
                "CAllocationCounter", "Checkpoints", "Colorizers", "Files", "Layers", "Engine",
                "ONNX", "TensorFiles", "TensorGraph", "TestSupport",
            ], exclude: ["Goldens"]),
        .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
        .testTarget(
            name: "ColorScienceTests", dependencies: ["ColorScience", "TestSupport"],
            exclude: ["Goldens"]),
        .testTarget(
            name: "FramesTests", dependencies: ["Frames", "ColorScience", "Files", "TestSupport"],
            exclude: ["Goldens"]),
        .testTarget(name: "FilmsTests", dependencies: ["Films", "Frames", "Files", "TestSupport"]),
        .testTarget(name: "MotionTests", dependencies: ["Motion", "TestSupport"]),
        .testTarget(
            name: "ImageIOTests", dependencies: ["ImageIO", "Files", "TestSupport"],
            exclude: ["Goldens"]),
        .testTarget(
            name: "PhotosTests",
            dependencies: ["Photos", "ColorScience", "Files", "ImageIO", "TestSupport"],
            exclude: ["Goldens"]),
        .testTarget(
            name: "FilesTests",
            dependencies: [
                "Files", "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .testTarget(
            name: "TensorFilesTests",
            dependencies: ["CProcesses", "Files", "TensorFiles", "TensorGraph", "TestSupport"],
            exclude: ["Goldens"]),
        .testTarget(
            name: "CoreAIRuntimeTests",
            dependencies: ["CoreAIRuntime", "TensorGraph", "TestSupport"]),
        .testTarget(
            name: "MLPackageTests",
            dependencies: [
                "MLPackage", "CoreMLProto", "TestSupport",
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
                .product(name: "SystemPackage", package: "swift-system"),
            ], exclude: ["Goldens"]),
        .testTarget(
            name: "MILTests",
            dependencies: [
                "OperationCases", "PackageSupport", "MIL", "Engine", "MLPackage", "TensorGraph",
                "TestSupport",
            ],
            exclude: ["Goldens"]),
        .testTarget(
            name: "AIModelTests",
            dependencies: [
                "AIModel", "MLIRBytecode", "OperationCases", "PackageSupport", "Engine", "MIL",
                "MLPackage", "TensorGraph", "Files", "TestSupport",
            ], exclude: ["Goldens"]),
        .testTarget(
            name: "ColorizerExportTests",
            dependencies: [
                "ColorizerExport", "PackageSupport", "MIL", "Checkpoints", "Engine", "Colorizers",
                "Layers", "MLPackage", "TensorFiles", "TensorGraph", "TestSupport", "Version",
            ], exclude: ["Goldens"]),
        .testTarget(
            name: "ONNXTests",
            dependencies: [
                "ONNX", "ONNXCases", "ONNXExport", "ONNXProto", "OperationCases", "PackageSupport",
                "MIL", "MLPackage", "Engine", "TensorFiles", "TensorGraph", "Files", "TestSupport",
            ], exclude: ["Goldens"]),
        .testTarget(
            name: "ONNXExportTests",
            dependencies: [
                "ONNXCases", "ONNXExport", "ONNXProto", "MIL", "MLPackage", "Files", "TestSupport",
            ], exclude: ["Goldens"]),
        .target(
            name: "ONNXCases", dependencies: ["PackageSupport", "MIL", "MLPackage", "TensorGraph"],
            path: "Tests/ONNXCases"),
        .executableTarget(
            name: "ONNXCaseWriter",
            dependencies: [
                "ONNXCases", "ONNXExport", "PackageSupport", "MIL", "MLPackage", "TensorGraph",
            ], path: "Tests/ONNXCaseWriter"),
        .testTarget(
            name: "PlacementTests",
            dependencies: [
                "Placement", "PackageSupport", "ColorizerExport", "Checkpoints", "Engine", "MIL",
                "MLPackage", "TensorGraph", "TestSupport",
            ]),
        .testTarget(
            name: "ModelsTests",
            dependencies: [
                "Models", "Checkpoints", "ColorScience", "Engine", "Files", "ImageIO", "MLPackage",
                "TensorFiles", "TensorGraph", "TestSupport",
            ]),
        .testTarget(
            name: "QuantizationTests",
            dependencies: [
                "Quantization", "PackageSupport", "Models", "ColorizerExport", "MIL", "Checkpoints",
                "Engine", "MLPackage", "TensorGraph", "TestSupport",
            ], exclude: ["Goldens"]),
        .testTarget(
            name: "VerificationTests",
            dependencies: [
                "Verification", "Models", "Checkpoints", "ColorizerExport", "Colorizers", "MIL",
                "MLPackage", "TensorFiles", "TensorGraph", "TestSupport",
            ], exclude: ["Goldens"]),
        .testTarget(
            name: "TrainingTests",
            dependencies: [
                "Training", "Models", "Photos", "TensorBoardProto", "Checkpoints", "ColorScience",
                "Colorizers", "Engine", "Files", "ImageIO", "Layers", "Ranks", "TensorFiles",
                "TensorGraph", "TestSupport",
            ], exclude: ["Goldens"]),
        .testTarget(
            name: "CommandTests",
            dependencies: exportedByRetint + ["RetintCLI", "Retint", "Motion", "TestSupport"],
            exclude: ["Goldens"]),
    ]
)
