"""The reference of the Python names, which mkdocstrings fills with their docstrings."""

import re

import headway

HEAD = """# Python

The public names of `headway` with their arguments. [Headway as a library](../library.md) explains them with examples.
"""


def library_page(guide: str) -> str:
    """Return the page of all public names.

    Args:
        guide: The text of docs/library.md. The reference has its order and its groups, and of each class the
            methods and attributes that the guide mentions: all others may change in any version.
    """
    parts = [HEAD]
    for group in guide.split("\n## ")[1:]:
        title, *sections = group.split("\n### ")
        if sections:
            parts.append(f"## {title.splitlines()[0]}\n")
        parts += [_describe_name(section) for section in sections]
    return "\n".join(parts)


def _describe_name(section: str) -> str:
    name = section.split("`")[1]
    known = vars(getattr(headway, name)) if isinstance(getattr(headway, name), type) else {}
    mentioned = {"forward", *re.findall(r"[`.](\w+)", section)}
    members = [word for word in known if word in mentioned and not word.startswith("_")]
    return f"::: headway.{name}\n    options:\n      members: {members}\n"
