"""HTTP over `Translator`: the LibreTranslate API, attention maps, alignments and a page."""
