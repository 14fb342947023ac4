"""Models to and from other programs: a folder a format.

Each folder has ``writer.py`` and ``runner.py``, and ``reader.py`` if Headway imports the format;
`headway.exchange.formats` says what they must offer.
"""
