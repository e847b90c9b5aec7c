// `import Retint` gives everything that the command line can do. The targets beneath it are reached
// through it; what is not meant for users is not `public` there.

@_exported import RetintAIModel
@_exported import RetintAppleRuntime
@_exported import RetintArchitectures
@_exported import RetintCheckpoints
@_exported import RetintColor
@_exported import RetintColoring
@_exported import RetintDeviceRules
@_exported import RetintDistributed
@_exported import RetintEngine
@_exported import RetintExport
@_exported import RetintFiles
@_exported import RetintGraph
@_exported import RetintImages
@_exported import RetintInspection
@_exported import RetintLayers
@_exported import RetintMIL
@_exported import RetintMLPackage
@_exported import RetintMeasuring
@_exported import RetintONNXReading
@_exported import RetintONNXWriting
@_exported import RetintPages
@_exported import RetintPhotoData
@_exported import RetintQuantization
@_exported import RetintRuntime
@_exported import RetintTensorFiles
@_exported import RetintTensors
@_exported import RetintTraining
@_exported import RetintVerification
@_exported import RetintVideo
