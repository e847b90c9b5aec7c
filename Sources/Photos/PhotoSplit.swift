import Layers

/// Photos to train on, to validate and to test with. A photo's look alone decides where it goes, so
/// that it stays there when others are added or it is renamed, and so does a copy of it.
package struct PhotoSplit {
    package private(set) var train: [PhotoSurvey.Photo] = []
    package private(set) var validation: [PhotoSurvey.Photo] = []
    package private(set) var test: [PhotoSurvey.Photo] = []

    /// - Parameters: shares of all photos, 0…1.
    package init(_ photos: [PhotoSurvey.Photo], validation: Double, test: Double, seed: UInt64) {
        for photo in photos {
            var random = RandomStream(seed: seed, name: "split \(photo.hash.bits)")
            let place = random.uniform()
            if place < test {
                self.test.append(photo)
            } else if place < test + validation {
                self.validation.append(photo)
            } else {
                train.append(photo)
            }
        }
    }
}
