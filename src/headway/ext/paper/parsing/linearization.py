"""Trees as token sequences, which a translation model learns to write.

A constituent becomes an opening token ``(NP``, its content and a closing token ``)NP``; a word becomes
its part of speech. The words themselves are the source sentence and do not occur in the sequence.

With numbers, a token such as ``#3`` stands before the third word in the sentence and before its part of
speech in the sequence. So the model finds the next word by its number and does not have to count, which is
the hardest to learn of all this. The paper has no numbers.

Paper: section 6.3. The linearization is that of Vinyals et al. (2015), with the part of speech in place
of their ``XX``, so that a tree can be restored completely.
"""

from collections.abc import Iterable, Sequence
from itertools import cycle

from headway.ext.paper.parsing.trees import Tree

OPEN, CLOSE = "(", ")"  # first characters of opening and closing tokens
# Numbers of words; word 41 has the first again, because few sentences are longer and all must be learned.
NUMBERS = tuple(f"#{n}" for n in range(1, 41))


def number_words(words: Iterable[str], numbers: Iterable[str] = NUMBERS) -> list[str]:
    """Return words with the number of each before it."""
    return [token for pair in zip(cycle(numbers), words) for token in pair]


def linearize(tree: Tree, *, numbered: bool = False) -> list[str]:
    """Return the token sequence of a tree: 2 tokens a constituent and 1 a word, with numbers 2."""
    numbers = cycle(NUMBERS)

    def write(part: Tree) -> list[str]:
        if part.word is not None:
            return [next(numbers), part.label] if numbered else [part.label]
        inside = [token for child in part.children for token in write(child)]
        return [OPEN + part.label, *inside, CLOSE + part.label]

    return write(tree)


def delinearize(tokens: Iterable[str], words: Sequence[str]) -> Tree:
    """Return the tree of a token sequence over its sentence: the inverse of `linearize`.

    Numbers of words are skipped.

    Raises:
        ValueError: If the tokens are not a tree whose leaves are the words.
    """
    rest = iter(words)
    stack: list[tuple[str, list[Tree]]] = [("", [])]
    for token in tokens:
        if token in NUMBERS:
            continue
        if len(token) > 1 and token[0] == OPEN:
            stack.append((token[1:], []))
        elif len(token) > 1 and token[0] == CLOSE:
            label, children = stack.pop()
            if label != token[1:] or not children or not stack:
                raise ValueError(f"{token} does not close a constituent with children")
            stack[-1][1].append(Tree(label, tuple(children)))
        else:
            word = next(rest, None)
            if word is None or len(stack) == 1:
                raise ValueError(f"no word, or no constituent, for the part of speech {token}")
            stack[-1][1].append(Tree(token, word=word))
    if len(stack) != 1 or len(stack[0][1]) != 1 or next(rest, None) is not None:
        raise ValueError("not one whole tree of all the words")
    return stack[0][1][0]
