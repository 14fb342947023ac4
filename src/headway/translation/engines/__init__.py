"""What runs the steps of models for a search: native code, plain torch, or a GPU."""
