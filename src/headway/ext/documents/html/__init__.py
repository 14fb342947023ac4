"""HTML files, documents and fragments."""
