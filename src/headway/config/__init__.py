"""All settings: their meanings, defaults and bounds, the presets, and the loader."""

from typing import TYPE_CHECKING

from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.config.declaration import (
        NO_LIMIT,
        NOT_NEGATIVE,
        POSITIVE,
        at_most,
        list_wrong_values,
        raise_all,
        setting,
        spell,
    )
    from headway.config.departures import list_departures, paper_config
    from headway.config.loading import (
        Changes,
        find_preset,
        from_dict,
        load,
        load_section,
        merge_overrides,
        read_changes,
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
    from headway.config.text import Subwords, TextConfig
    from headway.config.toml import to_toml
    from headway.config.training import TrainingConfig

__all__ = [
    "NOT_NEGATIVE",
    "POSITIVE",
    "PRESETS",
    "Changes",
    "Config",
    "Kind",
    "Mixer",
    "ModelConfig",
    "SearchConfig",
    "TextConfig",
    "TrainingConfig",
    "at_most",
    "find_preset",
    "from_dict",
    "list_wrong_values",
    "load",
    "load_section",
    "merge_overrides",
    "raise_all",
    "read_changes",
    "setting",
    "setting_types",
]


if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
