import Layers

/// Photos split into training, validation and test sets.
///
/// A photo's set depends on its perceptual hash and the seed alone: it does not change when other
/// photos are added or the photo is renamed, and a copy lands in the same set.
package struct PhotoSplit {
    package private(set) var train: [PhotoSurvey.Photo] = []
    package private(set) var validation: [PhotoSurvey.Photo] = []
    package private(set) var test: [PhotoSurvey.Photo] = []

    /// Splits photos.
    ///
    /// - Parameters:
    ///   - photos: the photos to split.
    ///   - validation: the share of the validation set, 0…1.
    ///   - test: the share of the test set, 0…1.
    ///   - seed: the seed of the split.
    package init(_ photos: [PhotoSurvey.Photo], validation: Double, test: Double, seed: UInt64) {
        for photo in photos {
            var random = RandomStream(seed: seed, name: "split \(photo.hash.bits)")
            let draw = random.uniform()
            if draw < test {
                self.test.append(photo)
            } else if draw < test + validation {
                self.validation.append(photo)
            } else {
                train.append(photo)
            }
        }
    }
}
