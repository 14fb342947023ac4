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
        load_section,
        merge_overrides,
        merge_tables,
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
    from headway.config.setting import (
        NOT_NEGATIVE,
        POSITIVE,
        at_most,
        list_broken_bounds,
        raise_all,
        spell,
    )
    from headway.config.text import Subwords, TextConfig
    from headway.config.toml import to_toml
    from headway.config.training import TrainingConfig

__all__ = [
    "NOT_NEGATIVE",
    "POSITIVE",
    "PRESETS",
    "Config",
    "Kind",
    "Mixer",
    "ModelConfig",
    "SearchConfig",
    "TextConfig",
    "TrainingConfig",
    "at_most",
    "check_overrides",
    "check_preset",
    "from_dict",
    "list_broken_bounds",
    "load",
    "load_section",
    "merge_overrides",
    "merge_tables",
    "raise_all",
    "setting_types",
]


if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
