"""Generated OpenDocument files (.odt, .odp, .ods) and electronic books (.epub)."""

import random

from support.office_packages import PNG, XML, words, write_zip

_NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{path}:1.0"'
    for name, path in [
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"), ("style", "style"),
        ("presentation", "presentation"), ("svg", "svg-compatible"), ("fo", "xsl-fo-compatible"), ("meta", "meta"),
    ]
) + ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2"'  # fmt: skip
_PICTURE = '<draw:image xlink:href="Pictures/1.png" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/>'
_SIZE = 'svg:width="2cm" svg:height="2cm"'


def _inline(chooser: random.Random, depth: int) -> str:
    """Return something that stands in a paragraph."""

    def text() -> str:
        return words(chooser, 4)

    return chooser.choice([
        text,
        lambda: f'<text:span text:style-name="T1">{text()}</text:span>',
        lambda: '<text:span text:style-name="T2">Wh</text:span><text:span text:style-name="T3">ile</text:span>',
        lambda: f'<text:span text:style-name="T4">{text()}</text:span>',
        lambda: f'<text:a xlink:type="simple" xlink:href="http://a.example/">{text()}</text:a>',
        lambda: "<text:s text:c='2'/>",
        lambda: f"<text:tab/>{text()}<text:line-break/>{text()}",
        lambda: "<text:page-number text:select-page='current'>7</text:page-number>",
        lambda: f'<text:bookmark-start text:name="b"/>{text()}<text:bookmark-end text:name="b"/>',
        lambda: "<text:soft-page-break/>",
        lambda: f'<draw:frame draw:name="p" text:anchor-type="as-char" {_SIZE}>{_PICTURE}<svg:title>{text()}</svg:title>'
                f"<svg:desc>{text()}</svg:desc></draw:frame>",
        lambda: f'<draw:frame text:anchor-type="as-char" {_SIZE}><draw:text-box>{_paragraph(chooser, depth - 1)}</draw:text-box></draw:frame>'
                if depth else "",
        lambda: '<text:note text:id="n1" text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>'
                f"{_paragraph(chooser, depth - 1)}</text:note-body></text:note>" if depth else "",
        lambda: f"<office:annotation><dc:creator>Anna</dc:creator><text:p>{text()}</text:p></office:annotation>" if depth else "",
    ])()  # fmt: skip


def _paragraph(chooser: random.Random, depth: int = 1) -> str:
    name = chooser.choice(["p", "p", "h"])
    level = ' text:outline-level="1"' if name == "h" else ""
    space = chooser.choice([" ", "\n  "])
    inside = space.join(_inline(chooser, depth) for _ in range(chooser.randint(1, 5)))
    return f"<text:{name}{level}>{inside}</text:{name}>"


def make_odf(chooser: random.Random, kind: str) -> bytes:
    """Return a text, a presentation or a spreadsheet."""
    paragraphs = "".join(_paragraph(chooser) for _ in range(chooser.randint(1, 5)))
    cell = '<table:table-cell office:value-type="string">'
    table = (
        f'<table:table table:name="Sheet one"><table:table-column table:number-columns-repeated="3"/><table:table-row>'
        f"{cell}<text:p>{words(chooser)}</text:p></table:table-cell>"
        '<table:table-cell office:value-type="float" office:value="42"><text:p>42 things</text:p></table:table-cell>'
        f'<table:table-cell table:formula="of:=[.A1]" office:value-type="string"><text:p>a cached text</text:p></table:table-cell>'
        "</table:table-row></table:table>"
    )
    box = f'<draw:frame draw:layer="layout" {_SIZE} svg:x="1cm" svg:y="1cm"><draw:text-box>{paragraphs}</draw:text-box></draw:frame>'
    if kind == "text":
        changes = (
            '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><office:change-info><dc:creator>Anna'
            "</dc:creator><dc:date>2020-01-01T00:00:00</dc:date></office:change-info><text:p>deleted text</text:p>"
            "</text:deletion></text:changed-region></text:tracked-changes>"
        )
        body = f'{changes}<text:p>{words(chooser)}<text:change text:change-id="c1"/></text:p>{paragraphs}{table}'
    elif kind == "presentation":
        notes = f"<presentation:notes><draw:frame {_SIZE}><draw:text-box>{_paragraph(chooser)}</draw:text-box></draw:frame></presentation:notes>"
        declared = f'<presentation:footer-decl presentation:name="f">{words(chooser)}</presentation:footer-decl>'
        body = f'{declared}<draw:page draw:name="page1" draw:master-page-name="Default">{box}{notes}</draw:page>'
    else:
        body = table
    styles = (
        '<style:style style:name="T1" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>'
        '<style:style style:name="T2" style:family="text"><style:text-properties fo:font-style="italic"/></style:style>'
        '<style:style style:name="T3" style:family="text"><style:text-properties fo:font-style="italic"/></style:style>'
        '<style:style style:name="T4" style:family="text"><style:text-properties/></style:style>'
    )
    content = (
        f"{XML}<office:document-content {_NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    layout = '<style:page-layout style:name="L"><style:page-layout-properties/></style:page-layout>'
    written_styles = (
        f'{XML}<office:document-styles {_NAMES}><office:styles><style:default-style style:family="paragraph">'
        '<style:text-properties fo:language="en" fo:country="US"/></style:default-style></office:styles><office:automatic-styles>'
        f'{layout}</office:automatic-styles><office:master-styles><style:master-page style:name="Default" '
        f'style:page-layout-name="L"><style:header><text:p>{words(chooser)}</text:p></style:header></style:master-page>'
        "</office:master-styles></office:document-styles>"
    )
    if kind == "presentation":
        written_styles = written_styles.replace("<style:header>", "").replace("</style:header>", "")
        start = written_styles.index("<text:p>")
        end = written_styles.index("</text:p>") + len("</text:p>")
        written_styles = written_styles[:start] + written_styles[end:]
    mime = f"application/vnd.oasis.opendocument.{kind}"
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type="{media}"/>'
        for name, media in [("/", mime), ("content.xml", "text/xml"), ("styles.xml", "text/xml"), ("meta.xml", "text/xml"),
                            ("Pictures/1.png", "image/png")]
    )  # fmt: skip
    return write_zip([
        ("mimetype", mime),
        ("content.xml", content),
        ("styles.xml", written_styles),
        ("meta.xml", f"{XML}<office:document-meta {_NAMES}><office:meta><dc:title>{words(chooser, 3)}</dc:title>"
                     "<dc:language>en-US</dc:language></office:meta></office:document-meta>"),
        ("Pictures/1.png", PNG),
        ("META-INF/manifest.xml", f'{XML}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" '
                                  f'manifest:version="1.2">{entries}</manifest:manifest>'),
    ])  # fmt: skip


def make_epub(chooser: random.Random) -> bytes:
    """Return a book with chapters, two tables of contents, a picture and metadata."""

    def inline() -> str:
        return " ".join(
            chooser.choice([
                lambda: words(chooser, 4), lambda: f"<b>{words(chooser, 3)}</b>", lambda: f'<a href="#x">{words(chooser, 2)}</a>',
                lambda: '<img src="a.png" alt="A cat."/>', lambda: "<code>x()</code>", lambda: f"<i>{words(chooser, 2)}</i>",
            ])()
            for _ in range(chooser.randint(1, 4))
        )  # fmt: skip

    def page(title: str, body: str) -> str:
        return (
            '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
            f'xmlns:epub="http://www.idpf.org/2007/ops" xml:lang="en" lang="en"><head><title>{title}</title></head>\n'
            f"<body>{body}</body></html>\n"
        )

    count = chooser.randint(1, 3)
    titles = [words(chooser, 3) for _ in range(count)]
    chapters = [
        (f"OEBPS/chapter {n}.xhtml", page(title, f'<h1 id="x">{title}</h1>\n<p>{inline()}</p><ul><li>{inline()}</li></ul>'))
        for n, title in enumerate(titles)
    ]  # fmt: skip
    links = "".join(
        f'<li><a href="chapter%20{n}.xhtml">{title}</a></li>' for n, title in enumerate(titles)
    )
    points = "".join(
        f'<navPoint id="n{n}" playOrder="{n + 1}"><navLabel><text>{title}</text></navLabel><content src="chapter%20{n}.xhtml"/></navPoint>'
        for n, title in enumerate(titles)
    )  # fmt: skip
    items = "".join(
        f'<item id="c{n}" href="chapter%20{n}.xhtml" media-type="application/xhtml+xml"/>'
        for n in range(count)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(count))
    book = (
        '<?xml version="1.0"?>\n<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">urn:uuid:12345678-1234-4234-8234-123456789abc'
        f"</dc:identifier><dc:title>{words(chooser, 4)}</dc:title><dc:language>en-US</dc:language><dc:creator>Anna Bell</dc:creator>"
        '<meta property="dcterms:modified">2020-01-01T00:00:00Z</meta></metadata><manifest>'
        f'{items}<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/><item id="i" href="a.png" media-type="image/png"/>'
        f'</manifest><spine toc="ncx">{spine}</spine></package>'
    )  # fmt: skip
    contents = (
        '<?xml version="1.0"?>\n<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1" xml:lang="en"><head>'
        '<meta name="dtb:uid" content="urn:uuid:12345678-1234-4234-8234-123456789abc"/></head><docTitle><text>Book one</text>'
        f"</docTitle><navMap>{points}</navMap></ncx>"
    )  # fmt: skip
    container = (
        '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )  # fmt: skip
    return write_zip([
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", container),
        ("OEBPS/book.opf", book),
        ("OEBPS/toc.ncx", contents),
        ("OEBPS/nav.xhtml", page("Contents", f'<nav epub:type="toc"><ol>{links}</ol></nav>')),
        *chapters,
        ("OEBPS/a.png", PNG),
    ])  # fmt: skip
