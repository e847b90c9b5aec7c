import RetintImages
import RetintPhotoData
import RetintTensors

/// What a step that is given pixels needs to know of its crops, collected crop by crop.
struct PixelInputs {
    /// The pixels that the step's program has to store before it runs.
    private(set) var uploads: [PixelUpload] = []
    private var windows: [Float] = []
    private var damagedWindows: [Float] = []
    private var damage: [Float] = []
    /// The crops so far.
    private var count = 0
    private let batch, side: Int
    private let whole: CropWindow
    private let hasCopies: Bool
    private let damageNumbers: DamageNumbers?

    /// - Parameters:
    ///   - batch: the number of crops.
    ///   - side: of the crops, in pixels.
    ///   - feed: which inputs the step has.
    init(batch: Int, side: Int, _ feed: StepFeed) {
        (self.batch, self.side, whole) = (batch, side, .whole(side: side))
        (hasCopies, damageNumbers) = (feed.hasCopies, feed.damageNumbers)
        windows.reserveCapacity(batch * CropWindow.length(side: side))
    }

    /// - Throws: `ImageError` if a crop is too large for JPEG compression.
    mutating func add(_ crop: TrainingCrop) throws {
        let window = window(of: crop)
        windows += window.numbers
        // A step does not compress: a crop that is compressed gets all its damage here.
        let isCopied = crop.damage?.isCompressed ?? false
        if hasCopies {
            damagedWindows += isCopied ? try copyWindow(of: crop).numbers : window.numbers
        }
        damage += damageNumbers?.numbers(of: isCopied ? nil : crop.damage) ?? []
        count += 1
    }

    private mutating func window(of crop: TrainingCrop) -> CropWindow {
        switch crop.source {
        case .image(let image): return stored(image, in: count)
        case .window(let window, let upload):
            if let upload { uploads.append(upload) }
            return window
        }
    }

    /// The window of a copy that is damaged on this machine.
    private mutating func copyWindow(of crop: TrainingCrop) throws -> CropWindow {
        guard let image = crop.image, let damage = crop.damage else {
            preconditionFailure("a crop of a photo in a program's memory is not compressed")
        }
        return stored(try image.damaged(by: damage), in: batch + count)
    }

    /// - Parameter slot: crops are stored before damaged copies.
    private mutating func stored(_ image: Image, in slot: Int) -> CropWindow {
        let start = slot * side * side
        uploads.append(PixelUpload(image, at: start))
        return whole.moved(to: start)
    }

    var inputs: [StepInput: TensorData] {
        let shape: Shape = [batch, CropWindow.length(side: side)]
        var inputs = [StepInput.crops: TensorData(shape: shape, scalars: windows)]
        if hasCopies {
            inputs[.damagedCrops] = TensorData(shape: shape, scalars: damagedWindows)
        }
        if let damageNumbers {
            inputs[.damage] = TensorData(shape: [batch, damageNumbers.length], scalars: damage)
        }
        return inputs
    }
}
