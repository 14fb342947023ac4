"""Reads the attention maps that Headway writes as JSON, as somebody else would."""

import base64

import numpy as np

from headway.ext.pictures.maps import AttentionMap, AttentionMaps


def read_maps(values):
    """Return the maps of the JSON values of a file, a page or the server."""
    maps = {}
    for kind, part in values["maps"].items():
        shape = part["layers"], part["heads"], len(part["queries"]), len(part["keys"])
        weights = np.frombuffer(base64.b64decode(part["weights"]), np.uint8).reshape(shape)
        maps[kind] = AttentionMap(
            part["queries"], part["keys"], weights.astype(np.float32) / np.float32(255)
        )
    return AttentionMaps(values["source"], values["target"], maps)
