// `import Retint` gives everything that the command line can do. The targets beneath it are reached
// through it; what is not meant for users is not `public` there. Of the targets that networks are
// made of, which `import RetintNetworks` gives, only the types that tasks take and return.

@_exported import RetintAIModel
@_exported import RetintAppleRuntime
@_exported import RetintCheckpoints
@_exported import RetintColor
@_exported import RetintColoring
@_exported import RetintDeviceRules
@_exported import RetintDiff
@_exported import RetintDistributed
@_exported import RetintExport
@_exported import RetintFiles
@_exported import RetintImages
@_exported import RetintInspection
@_exported import RetintMIL
@_exported import RetintMLPackage
@_exported import RetintMeasuring
@_exported import RetintNeuralNetwork
@_exported import RetintONNXReading
@_exported import RetintONNXWriting
@_exported import RetintPages
@_exported import RetintPhotoData
@_exported import RetintQuantization
@_exported import RetintRuntime
@_exported import RetintTensorFiles
@_exported import RetintTraining
@_exported import RetintVerification
@_exported import RetintVideo

@_exported import struct RetintArchitectures.ColorForm
@_exported import struct RetintArchitectures.ColorFormChoice
@_exported import enum RetintArchitectures.ColorStyle
@_exported import typealias RetintArchitectures.ColorizerError
@_exported import struct RetintArchitectures.ColorizerOptions
@_exported import enum RetintArchitectures.ColorizerProblem
@_exported import struct RetintArchitectures.NetworkDefinition
@_exported import enum RetintArchitectures.NetworkDescription
@_exported import struct RetintArchitectures.NetworkSummary
@_exported import enum RetintArchitectures.ValueRange
@_exported import enum RetintEngine.Arithmetic
@_exported import struct RetintEngine.Execution
@_exported import struct RetintEngine.KernelChoices
@_exported import struct RetintEngine.ThreadPrediction
@_exported import struct RetintFloat64.DeviceArithmetic
@_exported import enum RetintFloat64.SumOrder
@_exported import typealias RetintGraph.GraphError
@_exported import struct RetintGraph.GraphProblem
@_exported import struct RetintTensors.Shape
@_exported import struct RetintTensors.TensorData
