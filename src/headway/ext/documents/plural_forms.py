"""The plural forms of languages, as a catalog of gettext names them.

The rules are those of the Unicode CLDR for whole numbers, but for languages in which most catalogs have others.
"""

from headway.text import shorten_code

_FORMS = {
    "nplurals=1; plural=0;":
        "bm bo dz id ig ja jv km ko lo ms my sah su th to vi wo yo yue zh",
    "nplurals=2; plural=(n != 1);":
        "af an ast az bal bg ca ce ckb da de dv ee el en eo es et eu fi fo fur fy gl gsw ha haw hu ia it ka kk kl ks ku "
        "ky lb lg lij ml mn mr nb nd ne nl nn no nr ny om or os pap ps pt rm sc sd sn so sq ss st sv sw ta te tk tn ts ug "
        "ur uz ve xh yi",
    "nplurals=2; plural=(n > 1);":
        "ak am as bho bn fa ff fr gu guw hi hy kab kn ln mg nso oc pa pt-br si ti tr wa zu",
    "nplurals=2; plural=(n%10==1 && n%100!=11 ? 0 : 1);": "is mk",
    "nplurals=3; plural=(n==1 ? 0 : n==2 ? 1 : 2);": "he iu iw se",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);":
        "be bs hr ru sh sr uk",
    "nplurals=3; plural=(n==1 ? 0 : n>=2 && n<=4 ? 1 : 2);": "cs sk",
    "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);": "pl",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2);": "lt",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);": "lv",
    "nplurals=3; plural=(n==1 ? 0 : (n==0 || (n%100>0 && n%100<20)) ? 1 : 2);": "ro",
    "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);": "dsb hsb sl",
    "nplurals=4; plural=(n==1 || n==11 ? 0 : n==2 || n==12 ? 1 : n>2 && n<20 ? 2 : 3);": "gd",
    "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n>=3 && n<=6 ? 2 : n>=7 && n<=10 ? 3 : 4);": "ga",
    "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n==0 || (n%100>=3 && n%100<=10) ? 2 : n%100>=11 && n%100<=19 ? 3 : 4);":
        "mt",
    "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n==3 ? 3 : n==6 ? 4 : 5);": "cy",
    "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);":
        "ar",
}  # fmt: skip
_BY_CODE = {code: forms for forms, codes in _FORMS.items() for code in codes.split()}


def find_plural_forms(language: str) -> str:
    """Return the header field of a language's plural forms; "" if they are not known here."""
    code = language.lower().replace("_", "-")
    return _BY_CODE.get(code) or _BY_CODE.get(shorten_code(code.partition("-")[0]), "")
