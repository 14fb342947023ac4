"""Files of lines, translated by several workers and continued after a kill."""
