"""The server's addresses: the requests of LibreTranslate's clients and the answers they expect."""

import hashlib
import json
import logging
import time
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from starlette.requests import Request

from headway import __version__
from headway.config import Config, load_section
from headway.errors import HeadwayError
from headway.ext.server.clients import Clients
from headway.ext.server.environment import read_variables
from headway.ext.server.glossaries import Glossaries
from headway.ext.server.models import Models
from headway.ext.server.rejection import Rejection
from headway.ext.server.routes import list_addresses
from headway.text.languages import is_translatable
from support.attention_json import read_maps
from support.cases import read_rows
from support.server import ask, client_of
from support.toy_models import sentences

LIMITS = {"char_limit": 200, "batch_limit": 5, "alternatives_limit": 4, "body_limit": 20_000}


@pytest.fixture(scope="module")
def client(chain):
    with client_of(chain, **LIMITS) as found:
        yield found


def expected(chain, text):
    return chain.pairs["en", "de"].translate(text)


ENCODINGS = {
    "JSON": lambda f: {"json": f},
    "a form": lambda f: {"data": f},
    "multipart": lambda f: {"files": {name: (None, value) for name, value in f.items()}},
    "the query string": lambda f: {"params": f},
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_all_four_encodings_give_the_models_own_translation(client, chain, encoding):
    text = 'größe & 100 % + 日本 = "x"'
    fields = {"q": text, "source": "en", "target": "de"}
    answer = client.post("/translate", **ENCODINGS[encoding](fields))
    assert answer.status_code == 200
    assert answer.json() == {"translatedText": expected(chain, text)}
    assert client.post("/detect", **ENCODINGS[encoding]({"q": text})).status_code == 200


def test_alternatives_are_the_next_best_and_scores_descend(client):
    answer = ask(client, q="the cat sees", alternatives=3, scores=True).json()
    assert list(answer) == ["translatedText", "alternatives", "score", "alternativeScores"]
    assert 0 < len(answer["alternatives"]) <= 3
    assert (
        len({answer["translatedText"], *answer["alternatives"]}) == len(answer["alternatives"]) + 1
    )
    scores = [answer["score"], *answer["alternativeScores"]]
    assert scores == sorted(scores, reverse=True)
    several = ask(client, q=["the cat", "a dog"], alternatives=2).json()
    assert [isinstance(some, list) for some in several["alternatives"]] == [True, True]
    assert ask(client, q="the cat sees", alternatives=3, format="html").json()["alternatives"] == []
    assert "alternatives" not in ask(client, q="the cat sees", alternatives=0).json()


def test_a_score_is_the_sum_over_sentences(client):
    parts = ["the cat sees.", "A dog runs!"]
    alone = [ask(client, q=part, scores=True).json()["score"] for part in parts]
    assert all(score < 0 for score in alone)
    for form in ("text", "html"):
        whole = ask(client, q=" ".join(parts), scores=True, format=form).json()
        assert whole["score"] == pytest.approx(sum(alone), abs=3e-6)


def test_html_in_another_language_and_code_stay(client):
    page = '<p lang="en">the cat</p><p lang="fr">un homme</p><p>the <code>cat x</code> sees</p>'
    answer = ask(client, q=page, format="html").json()["translatedText"]
    assert '<p lang="fr">un homme</p>' in answer
    assert "the cat</p>" not in answer
    assert answer.count("<code>cat x</code>") == 1


def test_auto_tells_what_it_found(client, chain):
    english = "this is a house with a garden and the children are playing"
    answer = ask(client, q=english, source="auto").json()
    assert answer["detectedLanguage"]["language"] == "en"
    assert 50 < answer["detectedLanguage"]["confidence"] <= 100
    assert answer["translatedText"] == expected(chain, english)
    several = ask(client, q=[english, english], source="auto").json()
    assert len(several["detectedLanguage"]) == 2
    assert "detectedLanguage" not in ask(client, q=english).json()
    found = client.post("/detect", data={"q": "das ist ein Haus und die Kinder spielen"}).json()
    assert found[0]["language"] == "de"
    assert {one["language"] for one in found} <= {"en", "de", "fr"}
    assert sum(one["confidence"] for one in found) == pytest.approx(100, abs=0.5)


def test_what_has_no_words_comes_back(client):
    for text in ("🎉 🎉", "  \n ", "...", "\u200b"):
        assert ask(client, q=text).json() == {"translatedText": text}
        found = {"confidence": 0.0, "language": "en"}
        answer = {"translatedText": text, "detectedLanguage": found}
        assert ask(client, q=text, source="auto").json() == answer


def test_one_language_comes_back_and_a_pivot_joins_two(client, chain):
    assert ask(client, target="en").json() == {"translatedText": "the cat"}
    middles = {text: ask(client, q=text).json()["translatedText"] for text in sentences(9, 5)}
    text, middle = next((t, m) for t, m in middles.items() if is_translatable(m))
    through = ask(client, q=text, target="fr").json()
    assert through == ask(client, q=middle, source="de", target="fr").json()
    assert through["translatedText"] != middle
    languages = {one["code"]: one["targets"] for one in client.get("/languages").json()}
    assert languages == {"en": ["en", "de", "fr"], "de": ["de", "fr"], "fr": ["fr"]}
    no_pivot = Models(list(chain.pairs.values()))
    assert no_pivot.targets("en") == ["en", "de"]
    with pytest.raises(
        HeadwayError, match="--pivot xx: no model translates this language; there are en, de, fr"
    ):
        Models(list(chain.pairs.values()), "xx")
    with pytest.raises(HeadwayError, match=r"translates en to de, as .* does"):
        Models([chain.pairs["en", "de"]] * 2)


def test_a_string_without_an_end_is_looked_at_once(chain):
    with client_of(chain) as client:
        began = time.process_time()
        for end in (b"", b"\\", b'"}'):
            body = b'{"q": "' + b'\\"' * 50_000 + end
            assert client.post("/translate", content=body, headers=JSON).status_code == 400
        assert time.process_time() - began < 3  # quadratic, it is ten seconds each


@pytest.mark.parametrize(
    "charset", ["", '; charset="utf8"', "; charset=latin1", "; charset=punycode"]
)
def test_the_parts_of_a_form_are_utf8_whatever_it_says(client, chain, charset):
    headers = {"content-type": f"multipart/form-data; boundary=x{charset}"}
    for coding, is_read in (("utf-8", True), ("latin-1", False)):
        parts = {"q": "größe", "source": "en", "target": "de"}
        body = "".join(
            f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in parts.items()
        )
        data = f"{body}--x--\r\n".encode(coding)
        answer = client.post("/translate", content=data, headers=headers)
        if is_read:
            assert answer.json() == {"translatedText": expected(chain, "größe")}
        else:
            assert answer.status_code == 400
            assert "q parameter is not UTF-8" in answer.json()["error"]


def test_line_ends_of_forms_count_once(client):
    text = "the cat\r\n" * 25  # 225 characters as sent, 200 with one for each line end
    assert client.post("/translate", data={"q": text, "source": "en", "target": "de"}).is_success
    assert ask(client, q=text).status_code == 400


JSON = {"content-type": "application/json"}
OTHER, NAME = "https://other.example", "translate.example:8080"


def test_pages_of_other_sites_get_nothing(client):
    fields = {"text": "a dog", "source_lang": "en", "target_lang": "de"}
    for headers, status in (
        ({"Origin": OTHER}, 403),
        ({"Origin": f"http://sub.{NAME}", "Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "null"}, 403),  # a frame without an origin
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": f"http://{NAME}"}, 200),
        ({"Origin": "https://proxy.example", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": "chrome-extension://abc", "Sec-Fetch-Site": "cross-site"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
    ):
        headers = {"Host": NAME, **headers}
        text = {"q": "the cat", "source": "en", "target": "de"}
        for path in ("/v2/translate", "/translate", "/align", "/stream", "/detect"):
            answer = client.post(path, data=fields | text, headers=headers)
            assert answer.status_code == status, (path, headers)
        assert client.get("/translate", params=text, headers=headers).status_code == status
        file = {"file": ("a.txt", b"the cat")}
        answer = client.post("/translate_file", data=text, files=file, headers=headers)
        assert answer.status_code == status
        assert client.get("/languages", headers=headers).is_success
    for method in ("OPTIONS", "GET", "POST", "DELETE"):
        for path in ("/v2/glossaries", "/v2/glossaries/x", "/v2/nothing"):
            answer = client.request(method, path, headers={"Origin": OTHER})
            assert not [name for name in answer.headers if name.startswith("access-control-")]
            assert answer.headers["x-content-type-options"] == "nosniff"


def test_pages_of_named_sites_use_the_server(models):
    text = {"q": "the cat", "source": "en", "target": "de", "text": "the cat", "target_lang": "de"}
    for setting, is_named in (
        (f"https://a.example,{OTHER}/", True),
        ("*", True),
        ("https://a.example", False),
    ):
        with client_of(models, origins=setting) as client:
            for path in ("/translate", "/v2/translate"):
                headers = {"Origin": OTHER, "Sec-Fetch-Site": "cross-site"}
                answer = client.post(path, data=text, headers=headers)
                assert answer.is_success is is_named
                if path.startswith("/v2/"):
                    found = client.options(path, headers=headers).headers
                    assert ("access-control-allow-origin" in found) is is_named


def test_a_server_of_this_machine_alone_has_no_foreign_name(chain, tmp_path):
    (tmp_path / "keys").write_text("right\n")
    for address, host, settings, status in (
        ("127.0.0.1", "other.example:5000", {}, 403),
        ("[::1]", "127.0.0.1.other.example", {}, 403),
        ("127.0.0.1", "localhost:5000", {}, 200),
        ("[::1]", "[::1]:5000", {}, 200),
        ("0.0.0.0", "translate.example", {}, 200),
        ("127.0.0.1", "translate.example", {"trusted_proxies": "127.0.0.1"}, 200),
        ("127.0.0.1", "other.example", {"keys": tmp_path / "keys"}, 200),
    ):
        client = client_of(chain, **settings)
        client.base_url = f"http://{address}"
        headers = {"Host": host, "Authorization": "Bearer right"}
        assert client.get("/v2/glossaries", headers=headers).status_code == status, host
        assert client.get("/languages", headers=headers).status_code == 200


def test_a_client_has_a_network_of_ipv6():
    for first, second, is_same in read_rows(__file__, "test_a_client_has_a_network_of_ipv6"):
        scopes = [{"type": "http", "headers": [], "client": (host, 1)} for host in (first, second)]
        names = {Clients(None).identify(Request(scope)) for scope in scopes}
        assert len(names) == (1 if is_same else 2), first


def test_the_specification_names_every_address_and_its_languages(client):
    spec = client.get("/spec").json()
    schemas = spec["components"]["schemas"]
    fields = schemas["TranslateRequest"]["properties"]
    assert fields["source"]["enum"] == ["auto", "en", "de", "fr"]
    assert fields["target"]["enum"] == ["en", "de", "fr"]
    text, texts = fields["q"]["anyOf"]
    assert (text["maxLength"], texts["maxItems"], texts["items"]["maxLength"]) == (200, 5, 200)
    assert fields["alternatives"]["maximum"] == 4
    assert schemas["TranslateRequest"]["required"] == ["q", "source", "target"]
    assert schemas["Translation"]["required"] == ["translatedText"]
    assert set(spec["paths"]) == {each.path for each in list_addresses()}
    for path, methods in spec["paths"].items():
        for method in methods:
            answer = client.request(method, path)
            assert (
                answer.status_code not in (404, 405, 500) or "There is no such file" in answer.text
            )
    names = [each["operationId"] for methods in spec["paths"].values() for each in methods.values()]
    assert len({*names}) == len(names)
    for reference in set(json_references(spec)):
        found = spec
        for name in reference.removeprefix("#/").split("/"):
            found = found[name]


def test_the_specification_says_where_a_key_and_a_field_go(chain, tmp_path):
    (tmp_path / "keys").write_text("right\n")
    client = client_of(chain, tmp_path / "keys")
    spec = client.get("/spec").json()
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            answer = client.request(method, path)
            needs_key = "key" in answer.text.lower() and answer.status_code in (400, 403)
            assert ("security" in operation) is needs_key, (method, path)
            schemes = [name for each in operation.get("security", ()) for name in each]
            assert {*schemes} <= spec["components"]["securitySchemes"].keys()
    parameters = spec["paths"]["/translate"]["get"]["parameters"]
    assert [each["name"] for each in parameters if each["required"]] == ["q", "source", "target"]
    assert "api_key" in [each["name"] for each in parameters]


def json_references(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for inner in value.values():
            yield from json_references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from json_references(inner)


def test_paragraphs_keep_their_white_space(client, chain):
    text = "  the cat sees. A dog runs!\n\n\t the tree\r\n"
    first, second, third = (
        expected(chain, part) for part in ("the cat sees.", "A dog runs!", "the tree")
    )
    assert ask(client, q=text).json()["translatedText"] == f"  {first} {second}\n\n\t {third}\r\n"


def test_alignment_names_the_words_of_both_texts(client):
    text = " the cat sees.\na green dog"
    for target in ("de", "fr"):
        answer = ask(client, "/align", q=text, target=target).json()
        assert (
            answer["translatedText"] == ask(client, q=text, target=target).json()["translatedText"]
        )
        for words, whole in (("sourceWords", text), ("targetWords", answer["translatedText"])):
            assert [word["text"] for word in answer[words]] == whole.split()
            assert all(whole[w["start"] : w["end"]] == w["text"] for w in answer[words])
        assert answer["alignment"]
        assert all(s < 6 and t < len(answer["targetWords"]) for s, t in answer["alignment"])


def test_attention_is_what_the_pictures_are_made_of(client):
    answer = ask(client, "/attention", q="the cat sees").json()
    maps = read_maps(answer)
    assert maps.source == "the cat sees"
    assert maps.target == ask(client, q="the cat sees").json()["translatedText"]
    assert set(maps.maps) == {"encoder", "decoder", "cross"}
    given = ask(client, "/attention", q="the cat sees", translation="die Katze").json()
    assert given["target"] == "die Katze"
    for fields in ({"q": "!"}, {"q": "a", "target": "fr"}, {"q": "a", "translation": 5}):
        answer = ask(client, "/attention", **fields)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("Invalid request: ")


@pytest.mark.slow
def test_a_stream_is_the_greedy_translation_bit_by_bit(client, chain):
    text = "the cat sees. A dog runs\n\nunder"
    answer = ask(client, "/stream", q=text)
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [
        (block.split("\n")[0], json.loads(block.split("\n")[1].removeprefix("data: ")))
        for block in answer.text.strip().split("\n\n")
    ]
    assert [name for name, _ in events] == ["event: token"] * (len(events) - 1) + ["event: done"]
    whole = "".join(values["text"] for _, values in events[:-1])
    assert whole == events[-1][1]["translatedText"]
    translator = chain.pairs["en", "de"]
    greedy = replace(translator.default_search, beam=1)
    parts = translator.translate(["the cat sees.", "A dog runs", "under"], greedy)
    assert whole == "{} {}\n\n{}".format(*parts)
    assert len(events) > 5
    assert ask(client, "/stream", q="").status_code == 400


def test_health_names_models_their_weights_and_the_queue(models, model_directory):
    client = client_of(models, queue_texts=7)
    health = client.get("/health").json()
    assert health["api"] == client.get("/spec").json()["info"]["version"]
    weights = (model_directory / "model.safetensors").read_bytes()
    version = hashlib.sha256(weights).hexdigest()[:12]
    assert health["models"] == [{"source": "en", "target": "de", "version": version}]
    assert (health["status"], health["version"]) == ("ok", __version__)
    assert health["queue"] == {"texts": 0, "textsLimit": 7, "tokens": 0, "tokensLimit": 50_000}


def test_keys(chain, tmp_path):
    """A key is a field of the request, or comes as a bearer token."""
    file = tmp_path / "keys"
    file.write_text("# ours\n\nfirst-key\nzweiter-Schlüssel\n", encoding="utf-8")
    missing = "Please contact the server operator to get an API key"
    with client_of(chain, file) as client:
        for key, status, message in [
            (None, 400, missing), ("", 400, missing),
            ("first-ke", 403, "Invalid API key"), ("# ours", 403, "Invalid API key"),
        ]:  # fmt: skip
            answer = ask(client, api_key=key)
            assert (answer.status_code, answer.json()) == (status, {"error": message})
        for key in ("first-key", "zweiter-Schlüssel"):
            assert ask(client, api_key=key).is_success
            assert client.post(f"/detect?{urlencode({'q': 'a', 'api_key': key})}").is_success
        assert client.get("/frontend/settings").json()["keyRequired"] is True
        second = "Bearer zweiter-Schlüssel"
        for header, status in [
            (b"Bearer first-key", 200), (b"bearer  first-key", 200), (b"Bearer other", 403),
            (b"Basic first-key", 400), (b"Bearer", 400), (b"Bearer \xff", 403),
            (second.encode(), 200), (second.encode("latin-1"), 200),
        ]:  # fmt: skip
            fields = {"q": "the cat", "source": "en", "target": "de"}
            answer = client.post("/translate", json=fields, headers=[(b"authorization", header)])
            assert answer.status_code == status, header
        client.headers["Authorization"] = "Bearer other"
        assert ask(client, api_key="first-key").status_code == 403  # the header counts first


@pytest.mark.slow
def test_an_address_that_tries_keys_has_to_wait(chain, tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("headway.ext.server.clients.monotonic", lambda: now[0])
    file = tmp_path / "keys"
    file.write_text("right\n")
    with client_of(chain, file) as client:
        for _ in range(30):
            assert ask(client, q="a", api_key="right").is_success
        statuses = [ask(client, q="a", api_key=f"guess {n}").status_code for n in range(12)]
        assert statuses == [403] * 10 + [429] * 2
        refused = ask(client, q="a", api_key="right")  # it might be a guess, too
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "6")
        now[0] += 6
        assert ask(client, q="a", api_key="right").is_success


def test_rates_count_texts_and_refill(chain, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("headway.ext.server.clients.monotonic", lambda: now[0])
    with client_of(chain, req_limit=10) as client:
        assert ask(client, q=["a"] * 7).is_success
        refused = ask(client, q=["a"] * 4)
        assert refused.status_code == 429
        assert refused.json() == {"error": "Slowdown: 10 per 1 minute"}
        assert refused.headers["retry-after"] == "6"
        assert [ask(client, q="a").status_code for _ in range(4)] == [200, 200, 200, 429]
        now[0] += 6
        assert [ask(client, q="a").status_code for _ in range(2)] == [200, 429]
        now[0] += 600  # minutes in which nothing is asked for are not saved up
        assert [ask(client, q="a").status_code for _ in range(12)] == [200] * 10 + [429] * 2


def test_metrics_count_what_happened_and_ask_for_their_token(chain):
    with client_of(chain, metrics_token="Schlüssel") as client:
        ask(client, q="the secret cat. A dog")
        ask(client, q="")
        client.get("/some/secret/path")
        client.get("/download_file/secret.txt")
        client.delete("/v2/glossaries/secret")
        assert client.get("/metrics").status_code == 401
        given = [(b"authorization", "Bearer Schlüssel".encode())]
        text = client.get("/metrics", headers=given).text
    assert 'headway_requests_total{endpoint="/translate",status="200"} 1.0\n' in text
    assert 'headway_requests_total{endpoint="/translate",status="400"} 1.0\n' in text
    assert 'headway_requests_total{endpoint="/download_file/{name}",status="40' in text
    assert 'headway_requests_total{endpoint="/v2/glossaries/{glossary_id}",status="40' in text
    assert 'headway_requests_total{endpoint="other",status="404"} 1.0\n' in text
    assert "headway_segments_total 2.0\n" in text
    assert "headway_queue_tokens 0.0\n" in text
    assert "secret" not in text


def test_settings_come_from_file_environment_and_line_and_mistakes_together(tmp_path):
    file = tmp_path / "server.toml"
    file.write_text("[server]\nchar_limit = 5\nbatch_limit = 6\ndeadline = 1\nfile_jobs = 3\n")

    def load_server(option, text, environment):
        variables = read_variables(environment)
        given = {f"server.{option}": text}
        return load_section("server", [file], given, variables)

    found = load_server("char-limit", "9", {"LT_BATCH_LIMIT": "8", "HEADWAY_DEADLINE": "2"})
    assert (found.char_limit, found.batch_limit, found.deadline, found.file_jobs) == (9, 8, 2.0, 3)
    file.write_text("[server]\nchar_limits = 5\nbody_limit = 'x'\n[other]\n")
    with pytest.raises(HeadwayError) as caught:
        load_server("deadline", "soon", {"HEADWAY_BATCH_LIMIT": "many"})
    with pytest.raises(HeadwayError, match=r"--search.beam is not a setting"):
        load_section("server", overrides={"search.beam": "3"})
    lines = str(caught.value).splitlines()
    assert len(lines) == 5
    assert "server.char_limits is not a setting (did you mean 'server.char_limit'?)" in str(
        caught.value
    )
    assert "--server.deadline must be a finite number, not 'soon'" in lines
    assert "HEADWAY_BATCH_LIMIT must be a whole number, not 'many'" in lines
    file.write_text("")
    for option, text, problem in read_rows(
        __file__, "test_settings_come_from_file_environment_and_line_and_mistakes_together"
    ):
        with pytest.raises(HeadwayError, match=problem):
            load_server(option, text, {})
    for proxies in ("*", "127.0.0.1, ::1", "10.0.0.0/8"):
        assert load_server("trusted-proxies", proxies, {}).trusted_proxies == proxies
    assert "server" not in Config().to_dict()  # a run's config.json has no server in it


def test_a_request_brings_a_glossary_or_names_one(chain, tmp_path):
    (tmp_path / "animals.tsv").write_text("cat\tKater\n", encoding="utf-8")
    (tmp_path / "other.tbx").write_text(
        "<martif><text><body><termEntry><langSet xml:lang='fr'><tig><term>a</term></tig></langSet>"
        "<langSet xml:lang='de'><tig><term>b</term></tig></langSet></termEntry></body></text></martif>",
        encoding="utf-8",
    )
    named = f"animals = {tmp_path}/animals.tsv, other={tmp_path}/other.tbx"
    with client_of(chain, **LIMITS, glossaries=named) as client:
        text = "the cat sees {name}"
        for glossary in ("animals", "# mine\ncat\tKater\tcase"):
            for form in ("text", "html"):
                answer = ask(client, q=text, glossary=glossary, format=form).json()
                assert "Kater" in answer["translatedText"]
                assert answer["translatedText"].count("{name}") == 1
        for glossary, message in read_rows(
            __file__, "test_a_request_brings_a_glossary_or_names_one"
        ):
            answer = ask(client, q=text, glossary=glossary)
            assert answer.status_code == 400
            assert message in answer.json()["error"]
    (tmp_path / "animals.tsv").write_text("cat\n", encoding="utf-8")
    with pytest.raises(HeadwayError, match=r"animals\.tsv:1: 'cat' has no target"):
        client_of(chain, **LIMITS, glossaries=named)
    for wrong in ("animals", "=a.tsv", "animals=", " = "):
        with pytest.raises(HeadwayError, match="must be NAME=FILE"):
            client_of(chain, glossaries=wrong)


def test_a_glossary_of_many_commas_is_read_in_no_time():
    started_at = time.monotonic()
    with pytest.raises(Rejection, match="has no target") as caught:
        Glossaries({}).find("," * 50_000 + "\t", ("en", "de"))
    assert time.monotonic() - started_at < 2
    assert len(str(caught.value)) < 300  # a message has the beginning of a long term


def test_a_glossary_has_a_limit_of_its_own(chain):
    rows = "\n".join(f"word{number}\tWort" for number in range(50))
    limit = LIMITS["char_limit"] + len(rows)
    with client_of(chain, **LIMITS, glossary_limit=limit) as client:
        for path in ("/translate", "/align"):
            assert ask(client, path, q="the cat", glossary=f"{rows}\ncat\tKater").is_success
        answer = ask(client, glossary=rows + "x" * limit)
        message = f"glossary parameter: expected string of length <= {limit}"
        assert (answer.status_code, answer.json()) == (
            400,
            {"error": f"Invalid request: {message}"},
        )
        schemas = client.get("/spec").json()["components"]["schemas"]
        assert schemas["AlignRequest"]["properties"]["glossary"]["maxLength"] == limit


def test_a_table_is_for_the_pair_after_it_and_each_pair_has_one_file(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("headway.ext.server"), "propagate", True)
    for name, row in (("there", "cat\tKatze"), ("back", "Katze\tcat")):
        (tmp_path / f"{name}.tsv").write_text(row, encoding="utf-8")
    there, back = f"{tmp_path}/there.tsv", f"{tmp_path}/back.tsv"
    pairs = [("en", "de"), ("de", "en"), ("en", "pt-BR")]

    def sources(setting):
        """Return the term of the glossary x for each pair, or nothing."""
        found = Glossaries.load(setting, pairs)
        terms = [""] * len(pairs)
        for number, pair in enumerate(pairs):
            with suppress(Rejection):
                terms[number] = found.find("x", pair).terms[0].source
        return terms

    assert sources(f"x={there}") == ["cat", "cat", "cat"]
    assert sources(f" x = {there}@en-pt-BR ") == ["", "", "cat"]
    assert sources(f"x={there}@en-de,x={back}@de-en") == ["cat", "Katze", ""]
    assert not caplog.messages
    assert sources(f"x={there}@en-fr") == ["", "", ""]
    assert caplog.messages == [f"x={there}@en-fr: the glossary is for no languages of the models"]
    for twice in (f"x={there},x={back}", f"x={there},x={back}@de-en"):
        with pytest.raises(HeadwayError, match="another file of this name is for"):
            sources(twice)
