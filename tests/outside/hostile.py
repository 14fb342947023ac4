"""Five hundred texts that become code wherever a page takes text for markup; for browser.py."""

from pathlib import Path

CALL = "pwned(1)"
PAYLOADS = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
AROUND = [
    "{}", "\">{}", "'>{}", "</script>{}", "</textarea>{}", "</title></style>{}", "--> {}", "]]>{}", "</svg>{}", "\u202e{}\u202c\ufeff",
]  # fmt: skip


def hostile_texts():
    """Return each payload in each surrounding: 500 texts, all different."""
    made = [around.format(payload.format(CALL)) for payload in PAYLOADS for around in AROUND]
    assert len(set(made)) == 500, len(set(made))
    return made
