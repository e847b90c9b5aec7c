// swift-tools-version: 6.2

import PackageDescription

// Fuzz targets for libFuzzer; `Scripts/check fuzz` builds and runs them.
let package = Package(
    name: "retint-fuzz",
    dependencies: [.package(name: "retint", path: "../..")],
    targets: [
        .executableTarget(
            name: "retint-fuzz",
            dependencies: [.product(name: "Retint", package: "retint")],
            swiftSettings: [.enableExperimentalFeature("Extern")])
    ]
)
