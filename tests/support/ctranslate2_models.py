"""A writer of CTranslate2's ``model.bin``: tests need files that CTranslate2 itself would not write."""

import struct

import torch

from headway.ext.exchange.ctranslate2.binary import REVISION, SPEC, TYPES, VERSION


def write_variables(path, variables, aliases=None):
    """Write tensors as they are, and other names for some of them; see `headway.ext.exchange.ctranslate2.binary` for the layout."""
    with path.open("wb") as file:
        file.write(struct.pack("<I", VERSION))
        _write_string(file, SPEC)
        file.write(struct.pack("<II", REVISION, len(variables)))
        for name, tensor in variables.items():
            value = tensor.detach().cpu().contiguous()
            _write_string(file, name)
            file.write(struct.pack(f"<B{value.dim()}I", value.dim(), *value.shape))
            file.write(struct.pack("<BI", TYPES.index(value.dtype), value.nbytes))
            file.write(value.reshape(-1).view(torch.uint8).numpy().data)
        file.write(struct.pack("<I", len(aliases or {})))
        for names in (aliases or {}).items():
            for name in names:
                _write_string(file, name)


def _write_string(file, text):
    data = text.encode()
    file.write(struct.pack("<H", len(data) + 1) + data + b"\0")
