"""Limits on a serialized sentencepiece model, which are checked before it is parsed.

A protobuf of two bytes an entry takes seventy bytes an entry once it is parsed. So the entries are
counted first, without storing them.
"""

MAX_BYTES = 1 << 24
MAX_PIECES = 300_000
MAX_PIECE_BYTES = 1 << 12
MAX_OTHER_BYTES = 1 << 20  # training settings and the normalization table, together
PIECES, WIRE_BYTES = 1, 2  # a field's number, and the wire type of strings and messages


def find_excess(model: bytes) -> str:
    """Return what makes a serialized model no sentencepiece model or one of excessive size, or ''."""
    if not model:  # sentencepiece would load it as a model without pieces
        return "it is empty"
    if len(model) > MAX_BYTES:
        return f"it has more than {MAX_BYTES:,} bytes"
    pieces = other_bytes = at = 0
    try:
        while at < len(model):
            key, at = _read_number(model, at)
            if key & 7 != WIRE_BYTES:  # all fields of the outer message are messages
                return "it is damaged"
            length, at = _read_number(model, at)
            at += length
            if key >> 3 != PIECES:
                other_bytes += length + 2
            elif length > MAX_PIECE_BYTES:
                return f"a piece has more than {MAX_PIECE_BYTES:,} bytes"
            else:
                pieces += 1
            if pieces > MAX_PIECES:
                return f"it has more than {MAX_PIECES:,} pieces"
            if other_bytes > MAX_OTHER_BYTES:
                return f"its settings have more than {MAX_OTHER_BYTES:,} bytes"
    except IndexError:
        return "it is damaged"
    if at != len(model):
        return "it is truncated"
    return "" if pieces else "it has no pieces"


def _read_number(model: bytes, at: int) -> tuple[int, int]:
    """Return the variable-length integer at a position, and the position after it."""
    number = 0
    for shift in range(0, 70, 7):
        byte = model[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
    raise IndexError
