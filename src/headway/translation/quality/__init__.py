"""How good translations probably are, and other translations for those that look broken."""
