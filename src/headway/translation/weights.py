"""Safetensors files: written like any other file, and read into a network after their shapes are checked."""

import os
import re
import struct
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from headway.config import ModelConfig
from headway.errors import HeadwayError
from headway.files import write_atomically
from headway.model import Network
from headway.model.construction import make_model_without_memory

MAX_HEADER_BYTES = 1 << 23  # a table of 1,000 layers has less than 4 MB


def check_header(file: Path) -> None:
    """Check the size of the header of a safetensors file, before it is parsed.

    Raises:
        HeadwayError: If the header is larger than the header of any model can be.
        OSError: If the file cannot be read.
    """
    with file.open("rb") as opened:
        start = opened.read(8)
    if len(start) == 8 and struct.unpack("<Q", start)[0] > MAX_HEADER_BYTES:
        raise HeadwayError(
            f"{file}: damaged: its table of tensors has more than {MAX_HEADER_BYTES:,} bytes"
        )


def write_weights(file: Path, weights: Mapping[str, Tensor]) -> None:
    """Write a safetensors file atomically, in place of an older one if there is one."""
    with write_atomically(file) as temporary:
        save_tensors(temporary, weights, {"format": "pt"})


def save_tensors(
    file: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None
) -> None:
    """Write a safetensors file with the permissions of a new file, as the umask has them.

    safetensors itself gives them to the owner alone, so that no other user could serve the model.

    Raises:
        OSError: If the file cannot be written.
    """
    file.touch()
    mode = file.stat().st_mode
    try:
        save_file(dict(tensors), file, metadata)
    except SafetensorError as error:  # only its words have the number of the error
        number = re.search(r"os error ([0-9]+)", str(error))
        if not number:
            raise OSError(str(error)) from None
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(file)) from None
    file.chmod(mode)


def read_network(file: Path, config: ModelConfig) -> Network:
    """Build a network in evaluation mode from the weights in a safetensors file, as float32.

    The names and shapes of the weights are compared with the configuration before memory is
    allocated for them. No random number is drawn.

    Raises:
        HeadwayError: If the weights do not fit the configuration, or are not all finite.
    """
    try:
        check_header(file)
        with safe_open(file, framework="pt") as weights:
            names = set(weights.keys())
            shapes = {name: tuple(weights.get_slice(name).get_shape()) for name in names}
            if max(config.num_encoder_layers, config.num_decoder_layers) > len(names):
                raise HeadwayError(f"{file}: holds fewer layers than config.json says")
            network = make_model_without_memory(config)
            expected = {name: tuple(t.shape) for name, t in network.state_dict().items()}
            for name in sorted(expected.keys() | names):
                if shapes.get(name) != expected.get(name):
                    raise HeadwayError(
                        f"{file}: {name} is {shapes.get(name, 'missing')},"
                        f" config.json expects {expected.get(name, 'no such weight')}"
                    )
            # A copy: what safetensors returns may change when another process overwrites the file.
            values = {name: weights.get_tensor(name).to(torch.float32, copy=True) for name in names}
    except OSError as error:
        raise HeadwayError(f"{file}: {error.strerror or error}") from None
    except SafetensorError as error:
        raise HeadwayError(f"{file}: not a whole safetensors file: {error}") from None
    for name, value in values.items():
        if not value.isfinite().all():
            raise HeadwayError(f"{file}: {name} holds numbers that are not finite")
    network.load_state_dict(values, assign=True)
    for module in network.modules():
        for name, buffer in module.named_buffers(recurse=False):  # sinusoid tables, still empty
            setattr(module, name, torch.empty(buffer.shape))
    return network.eval()
