"""The command line: one file for each verb, which parses its options and calls the other packages."""

from typing import TYPE_CHECKING

from headway.lazy import import_at_first_use

if TYPE_CHECKING:
    from headway.cli.arguments import parse
    from headway.cli.display import LineProgress, format_duration
    from headway.cli.downloads import fetch_text, is_group, print_notice
    from headway.cli.launch import is_launched, run_child
    from headway.cli.options import (
        DIRECTION,
        FILE_FORM,
        MACHINE,
        PRESET,
        Argument,
        add_options,
        file_form,
        language_code,
    )
    from headway.cli.output_checks import check_output
    from headway.cli.process import prepare, set_threads
    from headway.cli.scores import read_parallel_files
    from headway.cli.settings import (
        check_used,
        choose_direction,
        given_changes,
        load_translator,
        settings_from,
    )
    from headway.cli.signals import remember_signals
    from headway.cli.standard_input import read_input
    from headway.cli.training import train_and_show


if not TYPE_CHECKING:
    __getattr__ = import_at_first_use(__name__)
