"""Search for the likeliest tokens, and what a translation must contain; no model is known here."""
