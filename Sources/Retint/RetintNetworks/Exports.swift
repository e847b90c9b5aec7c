// `import RetintNetworks` gives what your own network is made of: graphs of operations on
// tensors, layers, the built-in architectures, and the engine that runs them.

@_exported import RetintArchitectures
@_exported import RetintEngine
@_exported import RetintGraph
@_exported import RetintLayers
@_exported import RetintTensors
