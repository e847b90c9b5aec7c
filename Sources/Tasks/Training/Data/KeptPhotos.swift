import RetintCUDA
import RetintDistributed
import RetintEngine
import RetintImages
import RetintLocks

/// Where the pixels of photos are in the memory of a training step's program, which cuts crops from
/// them. Photos stay there from their first use on, as long as there is space.
final class KeptPhotos: Sendable {
    /// Where a photo is, and its size.
    struct Place: Sendable {
        let start, width, height: Int
        /// The step that brings it.
        fileprivate let step: Int
    }

    private struct State {
        var places: [Int: Place] = [:]
        var next: Int
        /// How many photos each step brings.
        var counts: [Int: Int] = [:]
    }

    private let end: Int
    private let state: Mutex<State>

    /// - Parameter pixels: where they may be.
    init(in pixels: Range<Int>) {
        end = pixels.upperBound
        state = Mutex(State(next: pixels.lowerBound))
    }

    /// The place of a photo that is in memory when a step runs; nil if it is not.
    ///
    /// - Parameters:
    ///   - index: of the photo.
    ///   - step: counted from 0; steps run in this order.
    func place(of index: Int, in step: Int) -> Place? {
        state.withLock { $0.places[index].flatMap { $0.step <= step ? $0 : nil } }
    }

    /// The most photos that a step brings: those of all batches that are ready are in the memory of
    /// this machine.
    private static let photosOfStep = 16

    /// Reserves a place for a photo that a step brings; nil if there is no space for it, another
    /// step brings it, or the step brings many.
    func reserve(_ photo: Image, at index: Int, for step: Int) -> Place? {
        let count = photo.width * photo.height
        return state.withLock { state in
            guard state.places[index] == nil, count <= end - state.next,
                state.counts[step, default: 0] < Self.photosOfStep
            else { return nil }
            state.counts[step, default: 0] += 1
            let place = Place(
                start: state.next, width: photo.width, height: photo.height, step: step)
            state.places[index] = place
            state.next += count
            return place
        }
    }
}

extension TrainingConfiguration {
    /// The pixels of photos that a step's program keeps: as many bytes as the cache of decoded
    /// photos has, but not more than a quarter of what the GPU has left.
    ///
    /// - Parameter photos: the number of training photos.
    func keptPixels(of photos: Int, _ feed: StepFeed) -> Int {
        // Each side of crops has a program with memory of its own, and a teacher that runs beside
        // it needs the crops on this machine.
        guard feed.takesPixels, !feed.needsLightness, data.sides.count == 1,
            let free = freeGPUBytes
        else { return 0 }
        let bytesOfPixel = MemoryLayout<Float>.size
        let side = 2 * data.largestSide
        // Of photos that are twice as long as wide.
        let (all, overflows) = photos.multipliedReportingOverflow(by: 2 * side * side)
        let limit = min(data.cacheMegabytes << 20, free / 4) / bytesOfPixel
        return overflows ? limit : min(limit, all)
    }

    /// The memory that the GPU of this rank has left; nil on another device.
    var freeGPUBytes: Int? {
        guard case .cuda(let index) = device else { return nil }
        return try? GPU.ofProcess(index).memory().free
    }
}
