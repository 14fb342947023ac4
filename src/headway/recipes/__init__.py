"""Recipes: several trainings in a row, each of them an ordinary ``headway`` command."""
