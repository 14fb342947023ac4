"""Where a text ends though its line goes on: tags of line breaks, paragraphs, items of lists and cells, and escapes."""

# Without the names that messages of programs also give to parts of a sentence, such as <link> and <title>.
BREAKS = frozenset({
    "article", "aside", "blockquote", "br", "center", "col", "colgroup", "dd", "div", "dl", "dt", "fieldset",
    "figcaption", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "li", "nav", "ol", "p",
    "pre", "section", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
})  # fmt: skip
BREAK_TAG = rf"</?(?i:{'|'.join(sorted(BREAKS))})(?:\s[^<>]*)?/?>"
# What programs write for line breaks and tabs. A single one before a small letter may be part of a path (docs\new), so it
# counts only if a sentence ends before it. One that has quotes or brackets around it ("\n") is mentioned, and no break.
BREAK_ESCAPE = (
    r"""(?<![\\(\[|^])(?<!\\[nrt])(?!(?<=["'“‘«])(?:\\[nrt])+["'”’»])"""
    r"(?:(?:\\[nrt]){2,}+|\\[nrt](?![a-z])|(?<=\w[.,;:!?])\\[nrt])"
)
