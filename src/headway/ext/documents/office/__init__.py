"""Office files and electronic books: ZIP packages with parts in XML."""
