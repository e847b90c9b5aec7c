// What README shows of the library: trains, colorizes a photo, exports, quantizes, verifies and
// measures.
//
//   Scripts/datasets
//   swift run -c release --package-path Scripts/Examples/library-tour

import Retint

let configuration = try TrainingConfiguration(
    contentsOf: "Scripts/recipes/mobile-unet.yaml", settings: ["output=runs/tour", "steps=200"])
for try await event in try Trainer(configuration).events() { print(event) }

let checkpoint = try Checkpoint(contentsOf: "runs/tour/best.h5")
let photo = try Image(contentsOf: "photo.jpg")
try Colorizer(Model(checkpoint)).colorize(photo).write(to: "colored.jpg")

let package = try checkpoint.package(ExportOptions(precision: .float16, target: .iOS16))
let (small, _) = try package.quantized(QuantizationPlan(QuantizationScheme(.int8)))
let report = try Model(small).verify(against: Model(checkpoint))
if report.passed { try small.write(to: "small.mlpackage") }

let performance = try await PerformanceReport(of: "runs/tour/best.h5")
print(performance.model.live.inTimeShare, "of the frames at 30 fps are colored in time")
