"""From raw parallel text to prepared data; `preparing.py` begins."""
