"""Tags of HTML at which a text ends wherever it stands: line breaks, paragraphs, items of lists, cells of tables."""

# Without the names that messages of programs also give to parts of a sentence, such as <link> and <title>.
BREAKS = frozenset({
    "article", "aside", "blockquote", "br", "center", "col", "colgroup", "dd", "div", "dl", "dt", "fieldset",
    "figcaption", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "li", "nav", "ol", "p",
    "pre", "section", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
})  # fmt: skip
BREAK_TAG = rf"</?(?i:{'|'.join(sorted(BREAKS))})(?:\s[^<>]*)?/?>"
