import RetintPhotoData

/// The keys of ``TrainingConfiguration/oldPhoto``.
extension OldPhotoSettings: ConfigurationSection {
    static var fields: [TrainingConfiguration.Field] {
        [
            share("sepia", \.oldPhoto.sepia, "toned sepia, then converted to gray"),
            .init(
                "old_photo.sepia_strength", \.oldPhoto.sepiaStrength, .range(0...1),
                "strength of the tone"),
            share("fading", \.oldPhoto.fading, "with less contrast and lifted blacks"),
            .init(
                "old_photo.fading_strength", \.oldPhoto.fadingStrength, .range(0...0.9),
                "largest share of the contrast that is lost"),
            share("blur", \.oldPhoto.blur, "that are blurred"),
            .init(
                "old_photo.blur_deviation", \.oldPhoto.blurDeviation, .range(0...20),
                "largest standard deviation, in pixels of a crop of 256"),
            share("grain", \.oldPhoto.grain, "with grain"),
            .init(
                "old_photo.grain_deviation", \.oldPhoto.grainDeviation, .range(0...100),
                "largest standard deviation, in levels of 255"),
            share("scratches", \.oldPhoto.scratches, "with scratches"),
            .init(
                "old_photo.scratch_count", \.oldPhoto.scratchCount, .range(1...100),
                "largest number of scratches"),
            share("dust", \.oldPhoto.dust, "with dust"),
            .init(
                "old_photo.dust_count", \.oldPhoto.dustCount, .range(1...1000),
                "largest number of specks"),
            share("jpeg", \.oldPhoto.jpeg, "compressed by JPEG"),
            .init(
                "old_photo.jpeg_quality", \.oldPhoto.jpegQuality, .range(1...100),
                "lowest quality; the highest is 30 above it"),
            .init(
                "old_photo.validation", \.validatesOldPhotos, .any,
                "also damages the validation photos, each always in the same way"),
        ]
    }

    private static func share(
        _ damage: String, _ path: WritableKeyPath<TrainingConfiguration, Double>, _ help: String
    ) -> TrainingConfiguration.Field {
        .init("old_photo.\(damage)", path, .range(0...1), "share of inputs \(help)")
    }
}
