"""One module for each experiment of `headway reproduce --list`, and its parts beside it."""
