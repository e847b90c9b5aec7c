// swift-tools-version: 6.1

import PackageDescription

// A package that uses retint as a library, as any user's package would.
let package = Package(
    name: "library-tests",
    dependencies: [.package(name: "retint", path: "../..")],
    targets: [
        .testTarget(
            name: "LibraryTests",
            dependencies: [
                .product(name: "Retint", package: "retint"),
                .product(name: "RetintNetworks", package: "retint"),
            ])
    ]
)
