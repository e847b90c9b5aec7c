// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "unshuffle-net",
    dependencies: [
        // In a project of your own: .package(url: "https://…/retint", from: "0.1.0")
        .package(name: "retint", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "unshuffle-net",
            dependencies: [
                .product(name: "RetintCLI", package: "retint"),
                .product(name: "RetintNetworks", package: "retint"),
            ])
    ]
)
