"""Markdown files (CommonMark, with tables and strikethrough)."""
