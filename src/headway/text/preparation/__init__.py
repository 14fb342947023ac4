"""Raw parallel text becomes prepared data, in stages of ranges of text."""
