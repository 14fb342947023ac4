"""English text is split into words as in treebanks."""

from headway.parsing.words import tokenize_english


def test_english_is_tokenized_as_in_treebanks():
    sentence = (
        "\"It's 1,000 miles (or so),\" Dr. Who's co-pilot didn't say at 12:30 in the U.S. today..."
    )
    assert " ".join(tokenize_english(sentence)) == (
        "\" It 's 1,000 miles -LRB- or so -RRB- , \" Dr. Who 's co - pilot did n't say at 12:30 in the"
        " U.S. today ..."
    )
