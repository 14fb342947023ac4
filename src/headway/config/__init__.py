"""Every setting, its meaning, its default, and how a preset, files and the command line set it."""

from headway.config.loading import (
    describe,
    from_dict,
    load,
    merge,
    merge_overrides,
    read_toml,
    setting_types,
)
from headway.config.presets import PRESETS
from headway.config.sections import (
    UNLIMITED,
    Config,
    Kind,
    Mixer,
    ModelConfig,
    SearchConfig,
    ServerConfig,
    TextConfig,
    TrainingConfig,
)

__all__ = [
    "PRESETS",
    "UNLIMITED",
    "Config",
    "Kind",
    "Mixer",
    "ModelConfig",
    "SearchConfig",
    "ServerConfig",
    "TextConfig",
    "TrainingConfig",
    "describe",
    "from_dict",
    "load",
    "merge",
    "merge_overrides",
    "read_toml",
    "setting_types",
]
