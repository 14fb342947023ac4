"""CTranslate2 model directories: written, run and read."""
