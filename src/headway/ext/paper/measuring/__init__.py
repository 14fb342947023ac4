"""How experiments measure a layer without training: operations, time, memory, paths, parameters."""
