"""The paper's claims as experiments: each measures the package itself, and says what came out."""
