"""Trees as token sequences, which a translation model learns to write.

A constituent becomes an opening token ``(NP``, its content and a closing token ``)NP``; a word becomes
its part of speech. The words themselves are the source sentence and do not occur in the sequence.

Paper: section 6.3. The linearization is that of Vinyals et al. (2015), with the part of speech in place
of their ``XX``, so that a tree can be restored completely.
"""

from collections.abc import Iterable, Sequence

from headway.parsing.trees import Tree

OPEN, CLOSE = "(", ")"  # first characters of opening and closing tokens


def linearize(tree: Tree) -> list[str]:
    """Return the token sequence of a tree: 2 tokens a constituent and 1 a word."""
    if tree.word is not None:
        return [tree.label]
    inside = [token for child in tree.children for token in linearize(child)]
    return [OPEN + tree.label, *inside, CLOSE + tree.label]


def delinearize(tokens: Iterable[str], words: Sequence[str]) -> Tree:
    """Return the tree of a token sequence over its sentence: the inverse of `linearize`.

    Raises:
        ValueError: If the tokens are not a tree whose leaves are the words.
    """
    rest = iter(words)
    stack: list[tuple[str, list[Tree]]] = [("", [])]
    for token in tokens:
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
