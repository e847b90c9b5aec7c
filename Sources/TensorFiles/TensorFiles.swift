// TensorFiles
