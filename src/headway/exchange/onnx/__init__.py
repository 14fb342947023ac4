"""ONNX graphs beside the files of a Marian directory: written and run."""
