"""Run the command: ``python -m headway``."""

from headway.cli.main import main

if __name__ == "__main__":
    main()
