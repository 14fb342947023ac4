"""ONNX graphs in a directory that Hugging Face's Optimum loads."""
