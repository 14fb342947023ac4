"""All settings: their meanings, defaults and bounds, the presets, and the loader."""

from headway.config.loading import (
    check_overrides,
    check_preset,
    from_dict,
    load,
    merge_overrides,
    merge_tables,
)
from headway.config.model import Kind, Mixer, ModelConfig
from headway.config.presets import PRESETS
from headway.config.search import SearchConfig
from headway.config.sections import Config
from headway.config.server import UNLIMITED, ServerConfig
from headway.config.setting import setting_types
from headway.config.text import TextConfig
from headway.config.training import TrainingConfig

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
    "check_overrides",
    "check_preset",
    "from_dict",
    "load",
    "merge_overrides",
    "merge_tables",
    "setting_types",
]
