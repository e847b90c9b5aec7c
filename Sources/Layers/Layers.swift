// Layers
