"""Rows of LibreTranslate's interface that a differential run found; each is what 1.9.6 answers."""

import pytest

from headway.config.loading import load_section
from headway.errors import HeadwayError
from headway.ext.server.environment import parse_whole_number, read_variables, unused_variables
from headway.ext.server.served_languages import LanguageDetector
from headway.ext.server.server_settings import UNLIMITED, ServerConfig
from headway.text import name_of


def load_server(environment):
    return load_section("server", variables=read_variables(environment))


def test_libretranslates_variables_set_the_same_limits():
    given = {
        "LT_CHAR_LIMIT": "77", "LT_BATCH_LIMIT": "-1", "LT_ALTERNATIVES_LIMIT": "-1",
        "LT_REQ_LIMIT": "-1", "LT_METRICS_AUTH_TOKEN": "token", "HEADWAY_REQ_LIMIT": "5",
    }  # fmt: skip
    found = load_server(given)
    assert found == ServerConfig(
        char_limit=77, batch_limit=UNLIMITED, req_limit=5, metrics_token="token"
    )
    unlimited = {"LT_CHAR_LIMIT": "-1", "LT_REQ_LIMIT": "-1"}
    assert load_server(unlimited).char_limit == UNLIMITED
    with pytest.raises(HeadwayError, match=r"LT_CHAR_LIMIT must be a whole number, not 'many'"):
        load_server({"LT_CHAR_LIMIT": "many"})


def test_variables_without_a_counterpart_are_named():
    given = {
        "LT_CHAR_LIMIT": "5", "LT_HOST": "::1", "LT_METRICS": "true", "LT_SSL": "true", "LT_CHARLIMIT": "5",
        "LT_SUGGESTIONS": "false", "LT_DAILY_REQ_LIMIT": "-1", "LT_URL_PREFIX": "", "LTX": "1",
    }  # fmt: skip
    assert unused_variables(given) == ["LT_CHARLIMIT", "LT_SSL"]


def test_a_wrong_port_is_named_with_its_variable():
    assert parse_whole_number("LT_PORT", "65535", 65535) == 65535
    for text in ("", "x", "-1", "65536", "1.5"):
        message = rf"LT_PORT {text}: must be a whole number from 0 to 65535"
        with pytest.raises(HeadwayError, match=message):
            parse_whole_number("LT_PORT", text, 65535)


@pytest.mark.slow
def test_only_served_languages_are_detected():
    detector = LanguageDetector(["af", "en", "zh-Hans", "xx"])
    assert detector.rank("Die kat sit op die mat en kyk na die huis")[0][0] == "af"
    assert detector.rank("这是一座房子")[0][0] == "zh-Hans"
    ranked = detector.rank("The cat sits on the mat")
    assert ranked[0][0] == "en"
    assert [code for code, _ in ranked if code == "xx"] == []
    assert LanguageDetector(["xx"]).rank("the cat") == [("xx", 0.0)]
    assert name_of("af") == "Afrikaans"
    assert name_of("xx") == "xx"
