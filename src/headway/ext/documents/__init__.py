"""Documents: files in, the same files with their text replaced out; no model and no network."""
