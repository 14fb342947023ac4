"""How a text is translated: stages as generators, which ask for what they need, and the drivers that answer."""
