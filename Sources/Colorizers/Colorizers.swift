// Colorizers
