"""The detection of a text's language among the served ones."""

import pytest

from headway.ext.server.languages import LanguageDetector
from headway.text.languages import name_of


@pytest.mark.slow
def test_only_served_languages_are_detected() -> None:
    detector = LanguageDetector(["af", "en", "zh-Hans", "xx"])
    assert detector.rank("Die kat sit op die mat en kyk na die huis")[0][0] == "af"
    assert detector.rank("这是一座房子")[0][0] == "zh-Hans"
    ranked = detector.rank("The cat sits on the mat")
    assert ranked[0][0] == "en"
    assert [code for code, _ in ranked if code == "xx"] == []
    assert LanguageDetector(["xx"]).rank("the cat") == [("xx", 0.0)]
    assert name_of("af") == "Afrikaans"
    assert name_of("xx") == "xx"
