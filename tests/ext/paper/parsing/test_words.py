"""English text is split into words as in treebanks."""

from headway.ext.paper.parsing.words import split_words, tokenize_english


def test_english_is_tokenized_as_in_treebanks():
    sentence = (
        "\"It's 1,000 miles (or so),\" Dr. Who's co-pilot didn't say at 12:30 in the U.S. today..."
    )
    assert " ".join(tokenize_english(sentence)) == (
        "\" It 's 1,000 miles -LRB- or so -RRB- , \" Dr. Who 's co - pilot did n't say at 12:30 in the"
        " U.S. today ..."
    )


def test_words_of_a_tokenized_sentence_are_split_at_spaces_and_tabs_alone():
    assert split_words(" 5\xa0000 b\t (c)  d\u2003e\r") == [
        "5\xa0000", "b", "-LRB-c-RRB-", "d\u2003e",
    ]  # fmt: skip
    assert split_words(" \t") == []
