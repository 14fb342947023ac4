"""All settings: their meanings, defaults and bounds, the presets, and the loader."""

from typing import TYPE_CHECKING

from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.config.departures import NO_LIMIT, list_departures, paper_config
    from headway.config.loading import (
        check_overrides,
        check_preset,
        from_dict,
        load,
        merge_overrides,
        merge_tables,
        to_toml,
    )
    from headway.config.model import (
        LARGEST,
        MAX_LAYERS,
        MAX_WIDTH,
        Activation,
        Kind,
        Mixer,
        ModelConfig,
    )
    from headway.config.search import SearchConfig
    from headway.config.sections import PRESETS, Config, setting_types
    from headway.config.server import UNLIMITED, ServerConfig
    from headway.config.setting import spell
    from headway.config.text import Subwords, TextConfig
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


if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
