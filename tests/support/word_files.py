"""Generated word processing files (.docx) with everything that can stand in a paragraph."""

import random

from support.office_packages import OFFICE, WORD, XML, core_properties, words, write_office_package

_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
_NAMES = (
    f'xmlns:w="{WORD}" xmlns:r="{OFFICE}/relationships" xmlns:a="{_DRAWING}/main" xmlns:pic="{_DRAWING}/picture" '
    f'xmlns:wp="{_DRAWING}/wordprocessingDrawing" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" mc:Ignorable=""'
)
_STYLES = [
    "", "<w:rPr><w:b/></w:rPr>", "<w:rPr><w:i/></w:rPr>", '<w:rPr><w:lang w:val="en-US"/></w:rPr>',
    '<w:rPr><w:color w:val="FF0000"/></w:rPr>', '<w:rPr><w:b/><w:lang w:val="en-GB"/></w:rPr>',
]  # fmt: skip


class WordMaker:
    """Makes the parts of a file."""

    def __init__(self, chooser: random.Random) -> None:
        self.chooser = chooser
        self.number = 0
        self.notes = 1

    def count(self) -> int:
        self.number += 1
        return self.number

    def run(self, content: str, style: str | None = None) -> str:
        revision = self.chooser.choice(["", ' w:rsidR="00A1"', ' w:rsidRPr="00B2"'])
        return f"<w:r{revision}>{self.chooser.choice(_STYLES) if style is None else style}{content}</w:r>"

    def text(self, most: int = 5) -> str:
        """Return a sentence in one run, or cut in several runs within words."""
        source = (
            words(self.chooser, most)
            .replace("&", "+")
            .replace("+lt;", "less")
            .replace("+amp;", "+")
        )
        cuts = sorted(
            self.chooser.choices(range(len(source) + 1), k=self.chooser.choice([0, 0, 1, 3]))
        )
        pieces = [
            source[a:b] for a, b in zip([0, *cuts], [*cuts, len(source)], strict=True) if a < b
        ]
        noise = ["", "", '<w:proofErr w:type="spellStart"/>', "<w:proofErr w:type='gramEnd'/>"]
        return "".join(
            self.run(f'<w:t xml:space="preserve">{piece}</w:t>') + self.chooser.choice(noise)
            for piece in pieces
        )

    def field(self, instruction: str, result: str) -> str:
        marks = [f'<w:fldChar w:fldCharType="{kind}"/>' for kind in ("begin", "separate", "end")]
        code = f'<w:instrText xml:space="preserve"> {instruction} </w:instrText>'
        if self.chooser.random() < 0.3:  # everything in one run
            return f"<w:r>{marks[0]}{code}{marks[1]}<w:t>7</w:t>{marks[2]}</w:r>"
        return "".join([*map(self.run, [marks[0], code, marks[1]]), result, self.run(marks[2])])

    def picture(self) -> str:
        number = self.count()
        return self.run(
            f'<w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="9525" cy="9525"/>'
            f'<wp:docPr id="{number}" name="Picture {number}" descr="{words(self.chooser, 4)}"/>'
            f'<a:graphic><a:graphicData uri="{_DRAWING}/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="0" name="a.png"/>'
            '<pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="rId1"/><a:stretch><a:fillRect/></a:stretch>'
            '</pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="9525" cy="9525"/></a:xfrm>'
            '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic>'
            "</wp:inline></w:drawing>"
        )  # fmt: skip

    def text_box(self, depth: int) -> str:
        inner = f"<w:txbxContent>{self.paragraph(depth - 1)}</w:txbxContent>"
        number = self.count()
        return self.run(
            '<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0">'
            f'<wp:extent cx="990000" cy="990000"/><wp:docPr id="{number}" name="Box" title="{words(self.chooser, 3)}"/>'
            '<a:graphic><a:graphicData uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"><wps:wsp>'
            '<wps:cNvSpPr txBox="1"/><wps:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="990000" cy="990000"/></a:xfrm>'
            f'<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></wps:spPr><wps:txbx>{inner}</wps:txbx><wps:bodyPr/></wps:wsp>'
            "</a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice><mc:Fallback><w:pict>"
            f'<v:shape style="width:90pt;height:90pt" alt="{words(self.chooser, 2)}"><v:textbox>{inner}</v:textbox></v:shape>'
            "</w:pict></mc:Fallback></mc:AlternateContent>"
        )  # fmt: skip

    def inline(self, depth: int) -> str:
        """Return something that stands in a paragraph."""
        mark = f'w:id="{self.count()}"'
        who = f'{mark} w:author="Anna" w:date="2020-01-01T00:00:00Z"'
        return self.chooser.choice([
            self.text,
            self.text,
            lambda: f'<w:hyperlink r:id="rId2" w:tooltip="{words(self.chooser, 3)}" w:history="1">{self.text()}</w:hyperlink>',
            lambda: f'<w:bookmarkStart {mark} w:name="b{mark[6:-1]}"/>{self.text()}<w:bookmarkEnd {mark}/>',
            lambda: f"<w:ins {who}>{self.text()}</w:ins>",
            lambda: f'<w:del {who}><w:r><w:delText xml:space="preserve">gone </w:delText></w:r></w:del>',
            lambda: self.field("PAGE", self.run("<w:t>7</w:t>")),
            lambda: self.field('HYPERLINK "http://a.example"', self.text()),
            lambda: '<w:fldSimple w:instr=" AUTHOR "><w:r><w:t>Anna Bell</w:t></w:r></w:fldSimple>',
            lambda: f"<w:sdt><w:sdtPr><w:alias w:val='x'/></w:sdtPr><w:sdtContent>{self.text()}</w:sdtContent></w:sdt>",
            lambda: f'<w:smartTag w:uri="u" w:element="e"><w:smartTagPr><w:attr w:name="n" w:val="v"/></w:smartTagPr>{self.text()}</w:smartTag>',
            lambda: self.run("<w:tab/><w:t>after</w:t><w:br/><w:t>a break</w:t>"),
            lambda: self.run("<w:t>non</w:t><w:noBreakHyphen/><w:t>stop</w:t><w:softHyphen/><w:t>ped</w:t>"),
            lambda: self.run("<w:lastRenderedPageBreak/><w:sym w:font='Wingdings' w:char='F04A'/>"),
            lambda: self.text() + self.run('<w:footnoteReference w:id="2"/>', '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'),
            lambda: f'<w:commentRangeStart w:id="0"/>{self.text()}<w:commentRangeEnd w:id="0"/>' + self.run('<w:commentReference w:id="0"/>'),
            self.picture,
            lambda: self.text_box(depth) if depth else "",
        ])()  # fmt: skip

    def paragraph(self, depth: int = 1) -> str:
        """Return a paragraph."""
        head = self.chooser.choice(
            ["", '<w:pPr><w:jc w:val="center"/><w:rPr><w:b/></w:rPr></w:pPr>']
        )
        space = '<w:r><w:t xml:space="preserve"> </w:t></w:r>'
        inside = space.join(self.inline(depth) for _ in range(self.chooser.randint(1, 5)))
        return f'<w:p w:rsidR="00C3">{head}{inside}</w:p>'


def make_docx(chooser: random.Random) -> bytes:
    """Return a file with tables, headers, footers, notes, comments and all that stands in paragraphs."""
    maker = WordMaker(chooser)
    body = "".join(maker.paragraph() for _ in range(chooser.randint(1, 6)))
    contents = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC \\o</w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{maker.text()}<w:r><w:tab/></w:r>'
        f"{maker.field('PAGEREF b1', maker.run('<w:t>3</w:t>'))}</w:p><w:p>{maker.text()}"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    cell = f"<w:tc><w:tcPr><w:tcW w:w='2000' w:type='dxa'/></w:tcPr>{maker.paragraph()}</w:tc>"
    table = f"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w='2000'/></w:tblGrid><w:tr>{cell}</w:tr></w:tbl>"
    section = '<w:sectPr><w:headerReference w:type="default" r:id="rId3"/><w:footerReference w:type="default" r:id="rId4"/></w:sectPr>'

    def part(name: str, content: str) -> str:
        return f"{XML}<w:{name} {_NAMES}>{content}</w:{name}>"

    def note(name: str, text: str) -> str:
        marks = "".join(
            f'<w:{name} w:type="{kind}" w:id="{number}"><w:p><w:r><w:{kind}/></w:r></w:p></w:{name}>'
            for number, kind in enumerate(["separator", "continuationSeparator"])
        )
        return f'{marks}<w:{name} w:id="2"><w:p><w:r><w:{name}Ref/></w:r>{text}</w:p></w:{name}>'

    kinds = {
        "document": part("document", f"<w:body>{body}{contents}{table}{maker.paragraph()}{section}</w:body>"),
        "header1": part("hdr", f"<w:p>{maker.text()}</w:p>"),
        "footer1": part("ftr", f"<w:p>{maker.run('<w:t>Page </w:t>')}{maker.field('PAGE', maker.run('<w:t>1</w:t>'))}</w:p>"),
        "footnotes": part("footnotes", note("footnote", maker.text())),
        "endnotes": part("endnotes", note("endnote", maker.text())),
        "comments": part("comments", f'<w:comment w:id="0" w:author="Anna"><w:p>{maker.text()}</w:p></w:comment>'),
        "styles": part("styles", '<w:docDefaults><w:rPrDefault><w:rPr><w:lang w:val="en-US" w:eastAsia="en-US" w:bidi="ar-SA"/>'
                       "</w:rPr></w:rPrDefault></w:docDefaults>"),
    }  # fmt: skip
    ends = {"document": "document.main", "header1": "header", "footer1": "footer"}
    parts = [
        (f"word/{name}.xml", f"vnd.openxmlformats-officedocument.wordprocessingml.{ends.get(name, name)}", content)
        for name, content in kinds.items()
    ]  # fmt: skip
    relations = [
        ("image", "media/image1.png"), ("hyperlink", "http://a.example/"), ("header", "header1.xml"), ("footer", "footer1.xml"),
        *((name, f"{name}.xml") for name in ("footnotes", "endnotes", "comments", "styles")),
    ]  # fmt: skip
    others = {f"word/{name}.xml": [relations[0]] for name in ("footnotes", "header1")}
    return write_office_package(
        "word/document.xml",
        [*parts, core_properties(chooser)],
        {"word/document.xml": relations, **others},
    )
