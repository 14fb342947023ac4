"""Generated slides (.pptx) and spreadsheets (.xlsx)."""

import random

from support.office_packages import OFFICE, XML, core_properties, words, write_office_package

_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
_PRESENTATION = "http://schemas.openxmlformats.org/presentationml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_NAMES = f'xmlns:a="{_DRAWING}/main" xmlns:r="{OFFICE}/relationships" xmlns:p="{_PRESENTATION}" xmlns:c="{_DRAWING}/chart"'
_COLORS = "".join(f'<a:{name}><a:srgbClr val="224466"/></a:{name}>' for name in (
    "dk1", "lt1", "dk2", "lt2", "accent1", "accent2", "accent3", "accent4", "accent5", "accent6", "hlink", "folHlink",
))  # fmt: skip
_FONT = '<a:latin typeface="Arial"/><a:ea typeface=""/><a:cs typeface=""/>'
_FILL, _LINE = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>', "<a:ln><a:noFill/></a:ln>"
_THEME = (
    f'<a:theme {_NAMES} name="t"><a:themeElements><a:clrScheme name="c">{_COLORS}</a:clrScheme><a:fontScheme name="f">'
    f"<a:majorFont>{_FONT}</a:majorFont><a:minorFont>{_FONT}</a:minorFont></a:fontScheme><a:fmtScheme name='m'>"
    f"<a:fillStyleLst>{_FILL * 3}</a:fillStyleLst><a:lnStyleLst>{_LINE * 3}</a:lnStyleLst><a:effectStyleLst>"
    f"{'<a:effectStyle><a:effectLst/></a:effectStyle>' * 3}</a:effectStyleLst><a:bgFillStyleLst>{_FILL * 3}</a:bgFillStyleLst>"
    "</a:fmtScheme></a:themeElements></a:theme>"
)
_TREE = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
_PLACE = '<a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm>'


def _slide_text(chooser: random.Random) -> str:
    """Return a paragraph of a slide."""

    def run() -> str:
        properties = chooser.choice([
            "", '<a:rPr lang="en-US" dirty="0"/>', '<a:rPr lang="en-US" b="1"/>', '<a:rPr lang="en-GB" err="1" i="1"/>',
            '<a:rPr lang="en-US"><a:hlinkClick r:id="rId9"/></a:rPr>' if chooser.random() < 0 else "<a:rPr/>",
        ])  # fmt: skip
        return f"<a:r>{properties}<a:t>{words(chooser, 4)} </a:t></a:r>"

    inside = "".join(
        chooser.choice([
            run, run, lambda: '<a:br><a:rPr lang="en-US"/></a:br>' + run(),
            lambda: '<a:fld id="{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}" type="slidenum"><a:rPr lang="en-US"/><a:t>7</a:t></a:fld>'
            + f"<a:r><a:t> {words(chooser, 3)}</a:t></a:r>",
        ])()
        for _ in range(chooser.randint(1, 4))
    )  # fmt: skip
    head = chooser.choice(["", '<a:pPr lvl="1"/>'])
    return f'<a:p>{head}{inside}<a:endParaRPr lang="en-US" dirty="0"/></a:p>'


def make_pptx(chooser: random.Random) -> bytes:
    """Return slides with text, a table, a picture, a chart, a comment and notes."""

    def body(name: str) -> str:
        inside = "".join(_slide_text(chooser) for _ in range(chooser.randint(1, 3)))
        return f"<{name}><a:bodyPr/>{inside}</{name}>"

    def shape(number: int, content: str, placeholder: str = "") -> str:
        return (
            f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="Box {number}" descr="{words(chooser, 3)}"/><p:cNvSpPr/>'
            f"<p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:spPr>{_PLACE}<a:prstGeom prst='rect'><a:avLst/></a:prstGeom></p:spPr>"
            f"{content}</p:sp>"
        )

    def tree(*shapes: str) -> str:
        return f"<p:cSld><p:spTree>{_TREE}{''.join(shapes)}</p:spTree></p:cSld>"

    cells = f"<a:tc>{body('a:txBody')}<a:tcPr/></a:tc>" * 2
    table = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="8" name="T"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>'
        '<p:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></p:xfrm><a:graphic><a:graphicData '
        f'uri="{_DRAWING}/table"><a:tbl><a:tblPr/><a:tblGrid><a:gridCol w="400000"/><a:gridCol w="400000"/></a:tblGrid>'
        f'<a:tr h="370840">{cells}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>'
    )
    frame = table.replace('id="8" name="T"', 'id="9" name="C"')
    chart_frame = (
        frame[: frame.index("<a:graphicData")]
        + f'<a:graphicData uri="{_DRAWING}/chart"><c:chart r:id="rId3"/></a:graphicData></a:graphic></p:graphicFrame>'
    )
    picture = (
        f'<p:pic><p:nvPicPr><p:cNvPr id="7" name="a.png" descr="{words(chooser, 4)}"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
        f'<p:blipFill><a:blip r:embed="rId2"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr>{_PLACE}'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>'
    )
    title, notes = '<p:ph type="title"/>', '<p:ph type="body" idx="1"/>'
    slide = tree(shape(2, body("p:txBody"), title), shape(3, body("p:txBody")), table, chart_frame, picture)  # fmt: skip
    layout = tree(shape(2, "<p:txBody><a:bodyPr/><a:p><a:r><a:t>Click to edit</a:t></a:r></a:p></p:txBody>", title),
                  shape(3, body("p:txBody")))  # fmt: skip
    cache = "".join(
        f'<c:pt idx="{number}"><c:v>{words(chooser, 2)}</c:v></c:pt>' for number in range(2)
    )
    chart = (
        f"<c:chart><c:title><c:tx><c:rich><a:bodyPr/>{_slide_text(chooser)}</c:rich></c:tx></c:title><c:plotArea><c:barChart>"
        f"<c:barDir val='col'/><c:ser><c:idx val='0'/><c:order val='0'/><c:trendline><c:name>{words(chooser, 2)}</c:name>"
        "<c:trendlineType val='linear'/></c:trendline><c:cat><c:strRef><c:f>Sheet1!$A$1</c:f>"
        f"<c:strCache><c:ptCount val='2'/>{cache}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:f>Sheet1!$B$1</c:f>"
        "<c:numCache><c:ptCount val='1'/><c:pt idx='0'><c:v>42</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>"
        "<c:axId val='1'/><c:axId val='2'/></c:barChart></c:plotArea></c:chart><c:externalData r:id='rId1'/>"
    )
    map_ = 'bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" ' + " ".join(
        f'{n}="{n}"' for n in ("accent1", "accent2", "accent3", "accent4", "accent5", "accent6", "hlink", "folHlink")
    )  # fmt: skip
    size = '<p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/>'
    kind = "vnd.openxmlformats-officedocument"
    parts = [
        ("ppt/presentation.xml", f"{kind}.presentationml.presentation.main", f'<p:presentation {_NAMES}><p:sldMasterIdLst>'
         '<p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst><p:sldId id="256" r:id="rId2"/></p:sldIdLst>'
         f"{size}</p:presentation>"),
        ("ppt/slideMasters/slideMaster1.xml", f"{kind}.presentationml.slideMaster",
         f'<p:sldMaster {_NAMES}>{tree()}<p:clrMap {map_}/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/>'
         "</p:sldLayoutIdLst></p:sldMaster>"),
        ("ppt/slideLayouts/slideLayout1.xml", f"{kind}.presentationml.slideLayout", f"<p:sldLayout {_NAMES}>{layout}</p:sldLayout>"),
        ("ppt/slides/slide1.xml", f"{kind}.presentationml.slide", f"<p:sld {_NAMES}>{slide}</p:sld>"),
        ("ppt/notesSlides/notesSlide1.xml", f"{kind}.presentationml.notesSlide",
         f"<p:notes {_NAMES}>{tree(shape(2, body('p:txBody'), notes))}</p:notes>"),
        ("ppt/comments/comment1.xml", f"{kind}.presentationml.comments",
         f'<p:cmLst {_NAMES}><p:cm authorId="0" dt="2020-01-01T00:00:00" idx="1"><p:pos x="1" y="1"/><p:text>{words(chooser)}</p:text>'
         "</p:cm></p:cmLst>"),
        ("ppt/charts/chart1.xml", f"{kind}.drawingml.chart", f"<c:chartSpace {_NAMES}>{chart}</c:chartSpace>"),
        ("ppt/theme/theme1.xml", f"{kind}.theme", _THEME),
    ]  # fmt: skip
    relations = {
        "ppt/presentation.xml": [("slideMaster", "slideMasters/slideMaster1.xml"), ("slide", "slides/slide1.xml"),
                                 ("theme", "theme/theme1.xml")],
        "ppt/slideMasters/slideMaster1.xml": [("slideLayout", "../slideLayouts/slideLayout1.xml"), ("theme", "../theme/theme1.xml")],
        "ppt/slideLayouts/slideLayout1.xml": [("slideMaster", "../slideMasters/slideMaster1.xml")],
        "ppt/slides/slide1.xml": [("slideLayout", "../slideLayouts/slideLayout1.xml"), ("image", "../media/image1.png"),
                                  ("chart", "../charts/chart1.xml"), ("notesSlide", "../notesSlides/notesSlide1.xml"),
                                  ("comments", "../comments/comment1.xml")],
        "ppt/notesSlides/notesSlide1.xml": [("slide", "../slides/slide1.xml")],
        "ppt/charts/chart1.xml": [("package", "../embeddings/chart1.xlsx")],
    }  # fmt: skip
    written = [(name, each, XML + content) for name, each, content in parts]
    inner = {"ppt/embeddings/chart1.xlsx": make_xlsx(chooser)}
    return write_office_package(
        "ppt/presentation.xml", [*written, core_properties(chooser)], relations, inner
    )


def make_xlsx(chooser: random.Random) -> bytes:
    """Return a spreadsheet with shared and inline strings, formulas, a table, comments and messages."""

    def rich() -> str:
        runs = "".join(
            f'<r>{chooser.choice(["", "<rPr><b/></rPr>", "<rPr><i/></rPr>"])}<t xml:space="preserve">{words(chooser, 3)} </t></r>'
            for _ in range(chooser.randint(1, 4))
        )
        return runs + chooser.choice(["", '<phoneticPr fontId="1"/>'])

    def string() -> str:
        return chooser.choice([
            lambda: f"<t>{words(chooser)}</t>", rich, lambda: f'<t xml:space="preserve"> {words(chooser, 3)}\n{words(chooser, 2)}</t>',
            lambda: f"<t>{words(chooser, 2)}_x000D_\n{words(chooser, 2)}</t>",
            lambda: '<t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr fontId="1"/>',
        ])()  # fmt: skip

    headers = ["Name", "Price"]
    # A header that a formula names stays.
    formula = chooser.choice(['A{0}&amp;"x"', "T[[#This Row],[Price]]"])
    strings = [
        *(f"<t>{header}</t>" for header in headers),
        *(string() for _ in range(chooser.randint(1, 6))),
    ]
    rows = "".join(
        f'<row r="{number + 2}"><c r="A{number + 2}" t="s"><v>{number + 2}</v></c><c r="B{number + 2}"><v>{number}.5</v></c>'
        f'<c r="C{number + 2}" t="str"><f>{formula.format(number + 2)}</f><v>a cached text</v></c></row>'
        for number in range(len(strings) - 2)
    )
    last = len(strings) + 1
    inline = (
        f'<row r="{last}"><c r="A{last}" t="inlineStr"><is>{string()}</is></c></row>'
        if chooser.random() < 0.7
        else ""
    )
    printed = chooser.choice([
        f'&amp;L&amp;"Arial,Bold"&amp;12{words(chooser, 2)}&amp;R&amp;K00B050{words(chooser, 1)} &amp;P',
        f"&amp;C{words(chooser, 1)} &amp;B{words(chooser, 1)}&amp;B &amp;&amp; {words(chooser, 2)}&amp;D", "&amp;A",
    ])  # fmt: skip
    loose = f'<row r="{last + 1}"><c r="A{last + 1}" t="str"><v>{words(chooser, 3)}</v></c></row>'
    sheet = (
        f'<worksheet xmlns="{_SHEET}" xmlns:r="{OFFICE}/relationships"><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c>'
        f'<c r="B1" t="s"><v>1</v></c></row>{rows}{inline}{loose}</sheetData><dataValidations count="1"><dataValidation type="list" '
        f'showInputMessage="1" promptTitle="{words(chooser, 2)}" prompt="{words(chooser, 3)}" sqref="D1"><formula1>"Yes,No"</formula1>'
        f"</dataValidation></dataValidations><headerFooter><oddHeader>{printed}</oddHeader></headerFooter>"
        '<tableParts count="1"><tablePart r:id="rId2"/></tableParts></worksheet>'
    )  # fmt: skip
    columns = "".join(f'<tableColumn id="{n}" name="{name}"/>' for n, name in enumerate(headers, 1))
    kind = "vnd.openxmlformats-officedocument.spreadsheetml"
    parts = [
        ("xl/workbook.xml", f"{kind}.sheet.main", f'<workbook xmlns="{_SHEET}" xmlns:r="{OFFICE}/relationships"><sheets>'
         '<sheet name="My sheet" sheetId="1" r:id="rId1"/></sheets></workbook>'),
        ("xl/worksheets/sheet1.xml", f"{kind}.worksheet", sheet),
        ("xl/sharedStrings.xml", f"{kind}.sharedStrings", f'<sst xmlns="{_SHEET}" count="{len(strings)}" uniqueCount="{len(strings)}">'
         + "".join(f"<si>{each}</si>" for each in strings) + "</sst>"),
        ("xl/comments1.xml", f"{kind}.comments", f'<comments xmlns="{_SHEET}"><authors><author>Anna</author></authors><commentList>'
         f'<comment ref="A1" authorId="0"><text>{rich().split("<phon")[0]}</text></comment></commentList></comments>'),
        ("xl/tables/table1.xml", f"{kind}.table", f'<table xmlns="{_SHEET}" id="1" name="T" displayName="T" ref="A1:B{last - 1}">'
         f'<tableColumns count="2">{columns}</tableColumns></table>'),
    ]  # fmt: skip
    relations = {
        "xl/workbook.xml": [("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "sharedStrings.xml")],
        "xl/worksheets/sheet1.xml": [("comments", "../comments1.xml"), ("table", "../tables/table1.xml")],
    }  # fmt: skip
    written = [(name, each, XML + content) for name, each, content in parts]
    return write_office_package("xl/workbook.xml", [*written, core_properties(chooser)], relations)
