"""A translation that grows with its attention: the alignment strip as an animated SVG.

The animation is CSS inside the file. A viewer that knows no animations, and a reader who prefers less motion,
see the whole strip.
"""

from headway.ext.pictures.picture import Picture

STEP = 0.8  # seconds from word to word
REST = 4  # steps for which the whole strip stays before the animation begins again
FADED = 0.25  # opacity of the links of earlier words while a word appears


def growth_svg(picture: Picture) -> str:
    """Return a picture as SVG in which one query after the other appears, with its links.

    Args:
        picture: A picture with queries and links. Its SVG has an element for each query, ``query-N``, and a
            path for each link, in the order of the links.
    """
    assert picture.layout.queries is not None
    count = len(picture.layout.queries.texts)
    rules = []
    for query in range(count):
        rules += _keyframes(query, count)
        rules.append(f"#query-{query} {{{_animation(f'word-{query}', count)}}}")
    for place, link in enumerate(picture.links, 1):
        name = f"links-{link.query}"
        rules.append(f"#links > :nth-child({place}) {{{_animation(name, count)}}}")
    moving = "\n".join(["@media (prefers-reduced-motion: no-preference) {", *rules, "}"])
    return picture.svg().replace("</svg>", f"<style>\n{moving}\n</style>\n</svg>")


def _keyframes(query: int, count: int) -> list[str]:
    """Return the states of a query's label and of its links; each state lasts until the next one."""
    start, after, end = (100 * step / (count + REST) for step in (query, query + 1, count))
    word = f"0% {{opacity: 0}} {start:.2f}%, 100% {{opacity: 1}}"
    faded = f"{after:.2f}% {{opacity: {FADED}}} " if query + 1 < count else ""
    links = f"0% {{opacity: 0}} {start:.2f}% {{opacity: 1}} {faded}{end:.2f}%, 100% {{opacity: 1}}"
    return [f"@keyframes word-{query} {{{word}}}", f"@keyframes links-{query} {{{links}}}"]


def _animation(name: str, count: int) -> str:
    return f"animation: {name} {STEP * (count + REST):.1f}s step-end infinite"
