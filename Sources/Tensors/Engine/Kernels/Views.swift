import RetintCompiler
import RetintGraph

// What only selects elements is a loop or a copy: its view says all.

extension AsStrided: CPUOperation {}
extension OrderedPixelShuffle: CPUOperation {}
extension PixelShuffle: CPUOperation {}
extension PixelUnshuffle: CPUOperation {}
extension RepeatInterleave: CPUOperation {}
extension UpsampleNearest: CPUOperation {}
