// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "library-tour",
    dependencies: [
        // In a project of your own: .package(url: "https://…/retint", from: "0.1.0")
        .package(name: "retint", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "library-tour",
            dependencies: [.product(name: "Retint", package: "retint")])
    ]
)
