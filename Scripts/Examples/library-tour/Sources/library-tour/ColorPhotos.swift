// What the article about photos shows.

import Retint

func colorInMemory(_ photo: Image, _ others: [Image]) async throws -> [Image] {
    let colorizer = try Colorizer(contentsOf: "Checkpoints/lite-class-unet.h5")
    let colored = try await colorizer.colorize(photo)
    let batch = try await colorizer.colorize(others)
    return [colored] + batch
}

func colorFolder(_ model: Model) async throws {
    let files = try PhotoFile.list(["holiday"], to: "colored")
    try await model.colorize(files) { file, outcome in print(file.output, outcome) }
}
