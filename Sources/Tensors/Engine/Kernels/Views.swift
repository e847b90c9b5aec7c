import RetintCompiler
import RetintGraph

// What only selects elements is a loop or a copy: its view says all.

extension AsStrided: CPUOperation {}
extension Broadcast: CPUOperation {}
extension OrderedPixelShuffle: CPUOperation {}
extension PixelShuffle: CPUOperation {}
extension PixelUnshuffle: CPUOperation {}
extension RepeatInterleave: CPUOperation {}
extension Reshape: CPUOperation {}
extension Slice: CPUOperation {}
extension Transpose: CPUOperation {}
extension UpsampleNearest: CPUOperation {}
