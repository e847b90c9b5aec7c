// `import Retint` provides everything that the command line can do. It re-exports the targets
// below; what is not meant for users is not `public` there.

@_exported import AIModel
@_exported import Checkpoints
@_exported import ColorScience
@_exported import ColorizerExport
@_exported import Colorizers
@_exported import CoreAIRuntime
@_exported import Engine
@_exported import Files
@_exported import Films
@_exported import Frames
@_exported import ImageIO
@_exported import Layers
@_exported import MIL
@_exported import MLPackage
@_exported import Models
@_exported import ONNX
@_exported import ONNXExport
@_exported import Photos
@_exported import Placement
@_exported import Quantization
@_exported import Ranks
@_exported import Reports
@_exported import TensorFiles
@_exported import TensorGraph
@_exported import Training
@_exported import Verification
@_exported import Version
