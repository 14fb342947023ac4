"""Office files and books that are translated, by their names; and damaged ones."""

import base64
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence

from text_files import Input

Members = Mapping[str, str | bytes]
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
TYPES = "application/vnd.openxmlformats-officedocument"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
CORE = (
    f'{XML}<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The lamp</dc:title><dc:subject>The house</dc:subject>'
    "<dc:creator>Anna Bell</dc:creator><dc:language>en-US</dc:language></cp:coreProperties>"
)


def package(members: Members) -> bytes:
    """Return a ZIP file with fixed dates; pictures and ``mimetype`` are not packed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number, (name, content) in enumerate(members.items()):
            info = zipfile.ZipInfo(name, (1999 + number % 99, 1, 2, 3, 4, 6))
            is_packed = name != "mimetype" and not name.endswith(".png")
            info.compress_type = zipfile.ZIP_DEFLATED if is_packed else zipfile.ZIP_STORED
            archive.writestr(info, content)
    return out.getvalue()


def office_files() -> list[Input]:
    """Return office files and books."""
    made = {**_word(), **_slides(), **_sheets(), **_open_documents(), **_books()}
    return [Input(name, package(members)) for name, members in made.items()]


def _ooxml(
    main: str,
    kinds: Mapping[str, str],
    parts: Members,
    relations: Mapping[str, Sequence[tuple[str, str]]],
) -> Members:
    """Return the members of a package of Office Open XML.

    Args:
        main: The name of the main part.
        kinds: The type of content of each part, after ``TYPES``.
        parts: All members but the descriptions of the package.
        relations: The types and the targets of what a part refers to; the first is rId1.
    """
    types = "".join(
        f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, kind in kinds.items()
    )
    head = (
        f'{XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    )
    found: dict[str, str | bytes] = {
        "[Content_Types].xml": f'{XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="png" '
        f'ContentType="image/png"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="rels" ContentType='
        f'"application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>',
        "_rels/.rels": f'{head}<Relationship Id="rId1" Type="{OFFICE}/relationships/officeDocument" Target="{main}"/></Relationships>',
    }  # fmt: skip
    for name, targets in relations.items():
        folder, _, file = name.rpartition("/")
        rows = "".join(
            f'<Relationship Id="rId{number}" Type="{OFFICE}/relationships/{kind}" Target="{target}"'
            + (' TargetMode="External"/>' if "://" in target else "/>")
            for number, (kind, target) in enumerate(targets, 1)
        )
        found[f"{folder}/_rels/{file}.rels"] = f"{head}{rows}</Relationships>"
    return {**found, **parts, "docProps/core.xml": CORE}


# --- Word ---------------------------------------------------------------------------------------------------------

W = (
    f'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="{OFFICE}/relationships" xmlns:a="{DRAWING}/main" '
    f'xmlns:wp="{DRAWING}/wordprocessingDrawing" xmlns:pic="{DRAWING}/picture" xmlns:m="{OFFICE}/math" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" mc:Ignorable="" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)


def _run(text: str, style: str = "") -> str:
    properties = f"<w:rPr>{style}</w:rPr>" if style else ""
    return f'<w:r w:rsidR="00A1">{properties}<w:t xml:space="preserve">{text}</w:t></w:r>'


def _p(*inside: str, style: str = "") -> str:
    return f"<w:p>{style}{''.join(each if each.startswith('<') else _run(each) for each in inside)}</w:p>"


def _field(instruction: str, result: str) -> str:
    marks = [
        f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")
    ]
    return f"{marks[0]}<w:r><w:instrText> {instruction} </w:instrText></w:r>{marks[1]}{result}{marks[2]}"


def _document(
    body: str,
    parts: Mapping[str, str] | None = None,
    main: str = f"{TYPES}.wordprocessingml.document.main",
) -> Members:
    """Return a document of Word with other parts by their names, such as ``footnotes``."""
    given = {"document": f"<w:document {W}><w:body>{body}</w:body></w:document>", **(parts or {})}
    kinds = {
        f"word/{name}.xml": f"{TYPES}.wordprocessingml.{name.strip('1')}+xml" for name in given
    }
    kinds["word/document.xml"] = f"{main}+xml"
    relations = [("image", "media/image1.png"), ("hyperlink", "http://a.example/")]
    relations += [(name.strip("1"), f"{name}.xml") for name in parts or {}]
    members: dict[str, str | bytes] = {
        f"word/{name}.xml": XML + content for name, content in given.items()
    }
    members["word/media/image1.png"] = PNG
    return _ooxml("word/document.xml", kinds, members, {"word/document.xml": relations})


def _notes(name: str, *texts: str) -> str:
    notes = "".join(
        f'<w:{name} w:id="{number}">{text}</w:{name}>' for number, text in enumerate(texts, 2)
    )
    return f'<w:{name}s {W}><w:{name} w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:{name}>{notes}</w:{name}s>'


def _word() -> dict[str, Members]:
    bold, italic = "<w:b/>", "<w:i/>"
    mark = 'w:id="1" w:author="Anna" w:date="2020-01-01T00:00:00Z"'
    box = "<w:txbxContent>" + _p("The garden is old.") + "</w:txbxContent>"
    shape = (
        '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline><wp:extent cx="9" cy="9"/><wp:docPr id="5" name="Box" '
        f'title="The lamp"/><a:graphic><a:graphicData uri="u"><wps:wsp><wps:txbx>{box}</wps:txbx></wps:wsp></a:graphicData></a:graphic>'
        f'</wp:inline></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape alt="The lamp"><v:textbox>{box}</v:textbox></v:shape></w:pict>'
        "</mc:Fallback></mc:AlternateContent></w:r>"
    )  # fmt: skip
    picture = (
        '<w:r><w:drawing><wp:inline><wp:extent cx="9" cy="9"/><wp:docPr id="4" name="Picture 4" descr="A new lamp"/><a:graphic><a:graphicData '
        f'uri="{DRAWING}/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="0" name="a.png"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>'
        '<a:blip r:embed="rId1"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
    )  # fmt: skip
    plain = _p("The lamp is ", _run("new", bold), " and ", _run("useful", italic), ".") + _p(
        "Nora sle", "eps."
    )
    table = f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w='9'/></w:tblGrid><w:tr><w:tc><w:tcPr/>{_p('The house')}</w:tc><w:tc>{_p('5')}</w:tc></w:tr></w:tbl>"
    return {
        "runs.docx": _document(
            plain + _p("THE NEW LAMP", style='<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>')
            + _p('<w:r><w:tab/><w:t>after</w:t><w:br/><w:t>The lamp</w:t></w:r>', '<w:r><w:t>non</w:t><w:noBreakHyphen/><w:t>stop tele</w:t><w:softHyphen/><w:t>phone</w:t></w:r>')
            + _p('<w:proofErr w:type="spellStart"/>', "The lamp", '<w:proofErr w:type="spellEnd"/>', '<w:r><w:sym w:font="Wingdings" w:char="F04A"/></w:r>', " is new.")
            + _p("H", _run("2", '<w:vertAlign w:val="subscript"/>'), "O and the lamp", _run("1", '<w:vertAlign w:val="superscript"/>'), " costs €4.17.")
            + _p("Hello {name}, see https://a.example.", " ") + _p() + _p("5")),
        "links.docx": _document(
            _p("See ", f'<w:hyperlink r:id="rId2" w:tooltip="The lamp" w:history="1">{_run("the report", bold)}</w:hyperlink>', " now.")
            + _p('<w:bookmarkStart w:id="3" w:name="b"/>', "The lamp", '<w:bookmarkEnd w:id="3"/>', " is new.")
            + _p("Page ", _field("PAGE", _run("7")), " of ", _field('HYPERLINK "http://a.example"', _run("the house")), ".")
            + _p('<w:fldSimple w:instr=" AUTHOR "><w:r><w:t>Anna Bell</w:t></w:r></w:fldSimple>', " has the lamp.")
            + _p(_field("TOC \\o", _run("The lamp") + "<w:r><w:tab/></w:r>" + _field("PAGEREF b", _run("3"))))
            + _p(_field("FORMTEXT", _run("The garden")), _field("REF b", _run("the lamp")))),
        "tables.docx": _document(
            plain + table + table.replace(_p("5"), table + _p("")) + '<w:sectPr><w:headerReference w:type="default" r:id="rId3"/><w:footerReference w:type="default" r:id="rId4"/></w:sectPr>',
            {"header1": f"<w:hdr {W}>{_p('The old house')}</w:hdr>", "footer1": f"<w:ftr {W}>{_p('Page ', _field('PAGE', _run('1')))}</w:ftr>",
             "styles": f'<w:styles {W}><w:docDefaults><w:rPrDefault><w:rPr><w:lang w:val="en-US" w:bidi="ar-SA"/></w:rPr></w:rPrDefault></w:docDefaults></w:styles>'}),
        "notes.docx": _document(
            _p("The lamp", '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="2"/></w:r>', " is new.", '<w:r><w:endnoteReference w:id="2"/></w:r>')
            + _p('<w:commentRangeStart w:id="2"/>', "Nora sleeps.", '<w:commentRangeEnd w:id="2"/>', '<w:r><w:commentReference w:id="2"/></w:r>'),
            {"footnotes": _notes("footnote", _p("<w:r><w:footnoteRef/></w:r>", " The house is old.")), "endnotes": _notes("endnote", _p("The garden.")),
             "comments": f'<w:comments {W}><w:comment w:id="2" w:author="Anna">{_p("Is the lamp new?")}</w:comment></w:comments>'}),
        "changes.docx": _document(
            _p("The ", f"<w:ins {mark}>{_run('new')}</w:ins>", f'<w:del {mark}><w:r><w:delText>old</w:delText></w:r></w:del>', " lamp.")
            + _p(f"<w:moveFrom {mark}>{_run('The house')}</w:moveFrom>", f"<w:moveTo {mark}>{_run('The garden')}</w:moveTo>")
            + _p('<w:smartTag w:uri="u" w:element="e">' + _run("Nora") + "</w:smartTag>", " sleeps.")),
        "controls.docx": _document(
            _p('<w:sdt><w:sdtPr><w:alias w:val="x"/><w:text/></w:sdtPr><w:sdtContent>' + _run("The lamp") + "</w:sdtContent></w:sdt>")
            + _p('<w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText="The house" w:value="1"/></w:dropDownList></w:sdtPr><w:sdtContent>' + _run("The house") + "</w:sdtContent></w:sdt>")
            + _p("The ", "<m:oMath><m:r><m:t>x=2</m:t></m:r></m:oMath>", " lamp is new.")
            + _p("<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>ramp</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>lamp</w:t></w:r></w:rubyBase></w:ruby></w:r>", " is new.")
            + _p(_run("La lampe est neuve. ", '<w:lang w:val="fr-FR"/>'), _run("The lamp.", '<w:lang w:val="en-GB"/>'))),
        "drawings.docx": _document(_p("The lamp ", picture, " is new.") + _p(shape, "Nora sleeps.")),
        "macros.docm": _document(plain, main="application/vnd.ms-word.document.macroEnabled.main"),
        "template.dotx": _document(plain, main=f"{TYPES}.wordprocessingml.template.main"),
    }  # fmt: skip


# --- Slides ---------------------------------------------------------------------------------------------------------

P = f'xmlns:a="{DRAWING}/main" xmlns:r="{OFFICE}/relationships" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:c="{DRAWING}/chart"'


def _a(*runs: str) -> str:
    inside = "".join(
        each
        if each.startswith("<")
        else f'<a:r><a:rPr lang="en-US" dirty="0"/><a:t>{each}</a:t></a:r>'
        for each in runs
    )
    return f'<a:p>{inside}<a:endParaRPr lang="en-US"/></a:p>'


def _slides() -> dict[str, Members]:
    bold = '<a:r><a:rPr lang="en-US" b="1"/><a:t>new</a:t></a:r>'

    def tree(inside: str) -> str:
        return f'<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>{inside}</p:spTree></p:cSld>'

    def shape(number: int, body: str, place: str = "") -> str:
        return f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="Box" descr="A lamp"/><p:cNvSpPr/><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>{body}</p:txBody></p:sp>'

    title = '<p:ph type="title"/>'
    table = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="8" name="T"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><a:graphic><a:graphicData '
        f'uri="{DRAWING}/table"><a:tbl><a:tblPr/><a:tblGrid><a:gridCol w="9"/></a:tblGrid><a:tr h="9"><a:tc><a:txBody><a:bodyPr/>{_a("The house")}'
        "</a:txBody><a:tcPr/></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )  # fmt: skip
    chart = (
        f"<c:chartSpace {P}><c:chart><c:title><c:tx><c:rich><a:bodyPr/>{_a('The prices')}</c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser>"
        "<c:cat><c:strRef><c:f>Sheet1!$A$1</c:f><c:strCache><c:ptCount val='1'/><c:pt idx='0'><c:v>The lamp</c:v></c:pt></c:strCache></c:strRef></c:cat>"
        "</c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"
    )  # fmt: skip
    slide = tree(
        shape(2, _a("The ", bold, " lamp"), title) + table
        + shape(3, _a("Nora sleeps.", '<a:br><a:rPr lang="en-US"/></a:br>', "The house") + _a('<a:fld id="{B6}" type="slidenum"><a:rPr/><a:t>7</a:t></a:fld>', " of the garden")
                + _a('<a:r><a:rPr lang="en-US"><a:hlinkClick r:id="rId6" tooltip="The report"/></a:rPr><a:t>The report</a:t></a:r>', " is new.") + _a("THE LAMP IS NEW"))
    )  # fmt: skip
    parts = {
        "ppt/presentation.xml": ("presentation.main", f'<p:presentation {P}><p:sldIdLst><p:sldId id="256" r:id="rId2"/></p:sldIdLst></p:presentation>'),
        "ppt/slideLayouts/slideLayout1.xml": ("slideLayout", f"<p:sldLayout {P}>{tree(shape(2, _a('Click to edit'), title) + shape(3, _a('The footer')))}</p:sldLayout>"),
        "ppt/slides/slide1.xml": ("slide", f"<p:sld {P}>{slide}</p:sld>"),
        "ppt/notesSlides/notesSlide1.xml": ("notesSlide", f"<p:notes {P}>{tree(shape(2, _a('Say that the lamp is new.')))}</p:notes>"),
        "ppt/comments/comment1.xml": ("comments", f'<p:cmLst {P}><p:cm authorId="0" idx="1"><p:text>Is the lamp new?</p:text></p:cm></p:cmLst>'),
    }  # fmt: skip
    relations = {
        "ppt/presentation.xml": [("slideLayout", "slideLayouts/slideLayout1.xml"), ("slide", "slides/slide1.xml")],
        "ppt/slides/slide1.xml": [("slideLayout", "../slideLayouts/slideLayout1.xml"), ("image", "../media/image1.png"), ("chart", "../charts/chart1.xml"),
                                  ("notesSlide", "../notesSlides/notesSlide1.xml"), ("comments", "../comments/comment1.xml"), ("hyperlink", "http://a.example/")],
    }  # fmt: skip
    kinds = {name: f"{TYPES}.presentationml.{kind}+xml" for name, (kind, _) in parts.items()}
    kinds["ppt/charts/chart1.xml"] = f"{TYPES}.drawingml.chart+xml"
    members: dict[str, str | bytes] = {name: XML + content for name, (_, content) in parts.items()}
    members |= {"ppt/charts/chart1.xml": XML + chart, "ppt/media/image1.png": PNG}
    show = kinds | {"ppt/presentation.xml": f"{TYPES}.presentationml.slideshow.main+xml"}
    return {
        "slides.pptx": _ooxml("ppt/presentation.xml", kinds, members, relations),
        "show.ppsx": _ooxml("ppt/presentation.xml", show, members, relations),
    }


# --- Sheets ---------------------------------------------------------------------------------------------------------

S = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{OFFICE}/relationships"'


def _sheets() -> dict[str, Members]:
    def book(
        strings: Sequence[str],
        rows: str,
        more: str = "",
        parts: Mapping[str, tuple[str, str]] | None = None,
        main: str = "sheet.main",
    ) -> Members:
        shared = "".join(f"<si>{each}</si>" for each in strings)
        given = {
            "xl/workbook.xml": (main, f'<workbook {S}><sheets><sheet name="My lamps" sheetId="1" r:id="rId1"/></sheets></workbook>'),
            "xl/worksheets/sheet1.xml": ("worksheet", f"<worksheet {S}><sheetData>{rows}</sheetData>{more}</worksheet>"),
            "xl/sharedStrings.xml": ("sharedStrings", f'<sst {S} count="{len(strings)}" uniqueCount="{len(strings)}">{shared}</sst>'),
            **(parts or {}),
        }  # fmt: skip
        kinds = {name: f"{TYPES}.spreadsheetml.{kind}+xml" for name, (kind, _) in given.items()}
        relations = {
            "xl/workbook.xml": [("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml")],
            "xl/worksheets/sheet1.xml": [(kind, f"../{name.removeprefix('xl/')}") for name, (kind, _) in (parts or {}).items()],
        }  # fmt: skip
        return _ooxml(
            "xl/workbook.xml",
            kinds,
            {name: XML + content for name, (_, content) in given.items()},
            relations,
        )

    strings = ["<t>The lamp</t>", '<r><t xml:space="preserve">The </t></r><r><rPr><b/></rPr><t>new</t></r><r><t xml:space="preserve"> lamp.</t></r>',
               '<t xml:space="preserve"> The house\nis old. </t>', "<t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh>", "<t>5 km</t>", "<t>HOUSE</t>"]  # fmt: skip
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="s"><v>{n - 1}</v></c><c r="B{n}"><v>{n}.5</v></c></row>'
        for n in range(1, 7)
    )
    rows += '<row r="7"><c r="A7" t="inlineStr"><is><t>Nora sleeps.</t></is></c><c r="B7" t="str"><f>A1&amp;"x"</f><v>The result</v></c></row>'
    more = (
        '<dataValidations count="1"><dataValidation type="list" promptTitle="The lamp" prompt="Choose a lamp." errorTitle="No" error="The lamp is old." sqref="D1">'
        '<formula1>"Yes,No"</formula1></dataValidation></dataValidations><headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;12The lamp&amp;R&amp;K00B050Page &amp;P</oddHeader></headerFooter>'
    )  # fmt: skip
    comment = '<comments {}><authors><author>Anna</author></authors><commentList><comment ref="A1" authorId="0"><text><r><rPr><b/></rPr><t>Anna:</t></r><r><t xml:space="preserve">\nThe lamp is new.</t></r></text></comment></commentList></comments>'
    table = '<table {} id="1" name="T" displayName="T" ref="A1:B3"><tableColumns count="2"><tableColumn id="1" name="Lamp"/><tableColumn id="2" name="Price"/></tableColumns></table>'
    cells = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row><row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>5</v></c></row><row r="3"><c r="A3" t="s"><v>0</v></c><c r="C3"><f>{}</f><v>1</v></c></row>'
    parts_of_table = '<tableParts count="1"><tablePart r:id="rId1"/></tableParts>'
    headers = ["<t>Lamp</t>", "<t>Price</t>", "<t>The new lamp</t>"]
    return {
        "strings.xlsx": book(strings, rows, more, {"xl/comments1.xml": ("comments", comment.format(S))}),
        "table.xlsx": book(headers, cells.format("B2*2"), parts_of_table, {"xl/tables/table1.xml": ("table", table.format(S))}),
        "named header.xlsx": book(headers, cells.format("T[[#This Row],[Price]]"), parts_of_table, {"xl/tables/table1.xml": ("table", table.format(S))}),
        "template.xltx": book(strings[:2], rows[:0] + cells.split("<row r=\"2\"")[0], main="template.main"),
    }  # fmt: skip


# --- OpenDocument and books -----------------------------------------------------------------------------------------

ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{path}:1.0"'
    for name, path in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"), ("style", "style"), ("form", "form"),
        ("presentation", "presentation"), ("svg", "svg-compatible"), ("fo", "xsl-fo-compatible"), ("meta", "meta"),
    )
) + ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2"'  # fmt: skip


def _odf(kind: str, body: str, *, is_template: bool = False) -> Members:
    mime = f"application/vnd.oasis.opendocument.{kind}{'-template' if is_template else ''}"
    styles = '<style:style style:name="T1" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>'
    names = {"/": mime, "content.xml": "text/xml", "styles.xml": "text/xml", "meta.xml": "text/xml"}
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type="{media}"/>'
        for name, media in names.items()
    )
    return {
        "mimetype": mime,
        "content.xml": f"{XML}<office:document-content {ODF}><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:{kind}>{body}"
        f"</office:{kind}></office:body></office:document-content>",
        "styles.xml": f'{XML}<office:document-styles {ODF}><office:styles><style:default-style style:family="paragraph"><style:text-properties fo:language="en" '
        'fo:country="US"/></style:default-style></office:styles><office:master-styles><style:master-page style:name="Default"><style:header><text:p>The header'
        "</text:p></style:header></style:master-page></office:master-styles></office:document-styles>",
        "meta.xml": f"{XML}<office:document-meta {ODF}><office:meta><dc:title>The lamp</dc:title><dc:language>en-US</dc:language></office:meta></office:document-meta>",
        "META-INF/manifest.xml": f'{XML}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">{entries}</manifest:manifest>',
    }  # fmt: skip


def _open_documents() -> dict[str, Members]:
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    table = (
        f'<table:table table:name="Sheet one"><table:table-row>{cell.format("The lamp")}<table:table-cell office:value-type="float" office:value="4"><text:p>4 lamps</text:p>'
        '</table:table-cell><table:table-cell table:formula="of:=[.A1]" office:value-type="string"><text:p>The result</text:p></table:table-cell></table:table-row></table:table>'
    )  # fmt: skip
    bold = '<text:span text:style-name="T1">{}</text:span>'
    paragraphs = (
        f'<text:h text:outline-level="1">THE NEW LAMP</text:h><text:p>The {bold.format("new")} lamp<text:s text:c="2"/>is <text:a xlink:href="http://a.example/">here</text:a>.</text:p>'
        f'<text:p>Nora<text:tab/>sleeps.<text:line-break/>The house</text:p><text:p>{bold.format("The")}{bold.format(" lamp")} of {{name}}.</text:p>'
    )  # fmt: skip
    notes = (
        '<text:p>The lamp<text:note text:id="n1" text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body><text:p>The house is old.</text:p>'
        "</text:note-body></text:note> is new.<office:annotation><dc:creator>Anna</dc:creator><text:p>Is it?</text:p></office:annotation></text:p>"
        '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><office:change-info><dc:creator>Anna</dc:creator></office:change-info><text:p>gone</text:p>'
        '</text:deletion></text:changed-region></text:tracked-changes><text:p>Page <text:page-number>7</text:page-number> of the <text:bookmark-start text:name="b"/>lamp'
        '<text:bookmark-end text:name="b"/>.</text:p><text:list><text:list-item><text:p>The garden</text:p></text:list-item></text:list>'
    )  # fmt: skip
    frame = (
        '<text:p><draw:frame draw:name="p"><draw:image xlink:href="x.png"/><svg:title>The lamp</svg:title><svg:desc>A new lamp.</svg:desc></draw:frame>'
        "<draw:frame><draw:text-box><text:p>The box</text:p></draw:text-box></draw:frame> of Nora.</text:p>"
    )
    page = (
        '<presentation:footer-decl presentation:name="f">The footer</presentation:footer-decl><draw:page draw:name="page1"><draw:frame><draw:text-box>'
        f"{paragraphs}</draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>Say it.</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page>"
    )  # fmt: skip
    return {
        "paragraphs.odt": _odf("text", paragraphs + table), "notes.odt": _odf("text", notes), "frames.odt": _odf("text", frame),
        "template.ott": _odf("text", paragraphs, is_template=True), "sheet.ods": _odf("spreadsheet", table), "slides.odp": _odf("presentation", page),
    }  # fmt: skip


def _books() -> dict[str, Members]:
    def page(title: str, body: str) -> str:
        return (
            '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
            f'xml:lang="en" lang="en"><head><title>{title}</title></head>\n<body>{body}</body></html>\n'
        )

    def book(metadata: str) -> Members:
        return {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
            "OEBPS/book.opf": '<?xml version="1.0"?>\n<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en"><metadata '
            f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">x</dc:identifier><dc:title>The lamp</dc:title><dc:language>en-US</dc:language>{metadata}</metadata>'
            '<manifest><item id="c" href="chapter%200.xhtml" media-type="application/xhtml+xml"/><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
            '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/><item id="i" href="a.png" media-type="image/png"/></manifest><spine toc="ncx"><itemref idref="c"/></spine></package>',
            "OEBPS/toc.ncx": '<?xml version="1.0"?>\n<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1" xml:lang="en"><docTitle><text>The lamp</text></docTitle><navMap>'
            '<navPoint id="n" playOrder="1"><navLabel><text>The garden</text></navLabel><content src="chapter%200.xhtml"/></navPoint></navMap></ncx>',
            "OEBPS/nav.xhtml": page("Contents", '<nav epub:type="toc"><ol><li><a href="chapter%200.xhtml">The garden</a></li></ol></nav>'),
            "OEBPS/chapter 0.xhtml": page("The garden", '<h1 id="x">The garden</h1>\n<p>The <b>new</b> <i>lamp</i> is <a href="#x">here</a>.<img src="a.png" alt="A lamp."/></p><p><code>x()</code> of Nora.</p>'),
            "OEBPS/a.png": PNG,
        }  # fmt: skip

    return {
        "book.epub": book(
            "<dc:description>The lamp is new.</dc:description><dc:creator>Anna Bell</dc:creator>"
        ),
        "no metadata.epub": book(""),
    }


def damaged_office_files() -> Iterable[Input]:
    """Return files that are refused."""
    word = dict(_word()["links.docx"])
    whole = package(word)
    main = "word/document.xml"
    text = str(word[main])
    made: dict[str, bytes] = {
        "text.docx": b"The lamp", "cut.docx": whole[:-60], "half.docx": whole[: len(whole) // 2], "old.docx": b"\xd0\xcf\x11\xe0" + b"x" * 600,
        "wrong kind.xlsx": whole, "no types.docx": package({main: text}), "no main.docx": package({name: each for name, each in word.items() if name != main}),
        "no end.docx": package(word | {main: text[:-20]}), "type.docx": package(word | {main: text.replace(XML, XML + '<!DOCTYPE x [<!ENTITY e "x">]>')}),
        "out.docx": package(word | {"../x": "x"}), "bomb.docx": package(word | {"word/x.xml": "<a>" + " " * 9_000_000 + "</a>"}),
        "deep.docx": package(word | {main: text.replace("<w:body>", "<w:body>" + "<w:x>" * 3_000).replace("</w:body>", "</w:x>" * 3_000 + "</w:body>")}),
        "no text.odt": package({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<x/>"}), "wrong kind.ods": package(_open_documents()["paragraphs.odt"]),
        "no container.epub": package({"mimetype": "application/epub+zip"}), "protected.epub": package(dict(_books()["book.epub"]) | {"META-INF/encryption.xml": (
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:CipherData>'
            '<enc:CipherReference URI="OEBPS/chapter%200.xhtml"/></enc:CipherData></enc:EncryptedData></encryption>')}),
        "no description.epub": package({name: each for name, each in _books()["book.epub"].items() if not name.endswith(".opf")}),
    }  # fmt: skip
    flipped = bytearray(whole)
    flipped[whole.index(b"word/document.xml") + 200] ^= 0xFF
    made["flipped.docx"] = bytes(flipped)
    return [Input(name, content) for name, content in made.items()]
