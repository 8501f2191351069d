"""Whether a text contradicts the verdict that code gave: what it says of the call itself.

Read is only what is said outright ("the Buy was right", "it was the wrong call",
"the decision was not wrong"); what is said of the reasons, of another call, or of
what might have been is nobody's verdict. In doubt nothing is read: a claim that is
missed costs little, one that is made up rejects a sound lesson.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from tradmem.lessons import vocabulary as words_for
from tradmem.lessons.vocabulary import BESIDE, COPULAS, INDEFINITE, NOUNS, OTHERS, SAYS, THE, WORKED
from tradmem.model import Rating, Verdict

Claim = frozenset[Verdict]  # the verdicts that a statement leaves possible
Statement = tuple[Claim, str]  # with the words that make it
Words = Sequence[str]

_ALL: Claim = frozenset(Verdict)
_TOKEN = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|[@,]")
_SENTENCE = re.compile(r"[.!?;:\n…]+(?=\s|$)|[—()]|\s-\s")
_ELISION = 2  # letters before an apostrophe: l'achat, n'est, s'est
_TO_COPULA, _TO_WORD, _TO_VERB = 7, 6, 4  # how far apart, in words, the parts may stand


def contradiction(
    text: str, verdict: Verdict | None, rating: Rating | None, ticker: str = ""
) -> str:
    """The first statement that does not fit the verdict; empty if there is none.

    Where there is no verdict (an unrated decision), one outright right or wrong does not fit.
    """
    for claim, said in statements(text, rating, ticker):
        fits = verdict in claim if verdict else claim not in ({Verdict.RIGHT}, {Verdict.WRONG})
        if not fits:
            return said
    return ""


def statements(text: str, rating: Rating | None, ticker: str = "") -> Iterator[Statement]:
    """Every outright statement on the call."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    text = re.sub(r"n't\b", " not", re.sub(r"[*_`\"“”]", "", text))
    if ticker:
        word = re.escape(ticker.casefold())
        text = re.sub(rf"(?<![a-z0-9]){word}(?![a-z0-9])", "@", text)
    for label in (words_for.BARE_LABEL.match(text), words_for.LABEL.search(text)):
        if label:
            yield frozenset({SAYS[label["word"]]}), label[0].strip()
    yield from _cjk(text)
    named = [(way, names) for way, names in words_for.FAMILIES.items()]
    others = {name for way, names in named if rating and way != rating.direction for name in names}
    own = {name for _, names in named for name in names if name not in others}
    for sentence in _assertions(text):
        yield from _sentence(sentence, own | words_for.SUBJECTS, others)


def _assertions(text: str) -> Iterator[Words]:
    """The words of each sentence that is no question."""
    start = 0
    for end in [*_SENTENCE.finditer(text), None]:
        sentence = text[start : end.start() if end else None]
        start = end.end() if end else start
        if not (end and "?" in end[0]):
            yield [_word(token) for token in _TOKEN.findall(sentence)]


def _word(token: str) -> str:
    head, apostrophe, tail = token.partition("'")
    return tail if apostrophe and len(head) <= _ELISION else token


def _sentence(words: Words, own: set[str], others: set[str]) -> Iterator[Statement]:
    for at, word in enumerate(words):
        if word in own and _is_this_call(words, at):
            yield from _said_of(words, at)
        elif word in SAYS and words[at + 1 : at + 2] and words[at + 1] in NOUNS:
            yield from _named(words, at, others)


def _is_this_call(words: Words, at: int) -> bool:
    """Whether the subject at this place is the call at hand, in a clause that asserts."""
    if _supposed(words, at):
        return False
    for i in range(at - 1, max(-1, at - 4), -1):  # back to the article, and what stands before it
        if words[i] in OTHERS or (i and words[i] in words_for.OF):
            return False
        if words[i] in THE or words[i] in INDEFINITE:
            return not (i > 1 and words[i - 1] in words_for.OF)
    return True


def _supposed(words: Words, at: int) -> bool:
    """Whether the clause up to here supposes, asks or advises."""
    comma = max((i for i in range(at) if words[i] == ","), default=-1)
    return any(word in words_for.BEFORE_UNREAL for word in words[comma + 1 : at])


def _said_of(words: Words, at: int) -> Iterator[Statement]:
    """What is said of the subject at this place: subject, copula, word; or subject, verb."""
    for verb in range(at + 1, min(at + 1 + _TO_COPULA, len(words))):
        word = words[verb]
        if word in OTHERS or word in words_for.BETWEEN_UNREAL:
            return
        if word in WORKED and verb - at <= _TO_VERB:
            if not _beside(words, verb) and (
                word != "paid" or words[verb + 1 : verb + 2] == ["off"]
            ):
                negated = _negated(words[at + 1 : verb])
                yield _claim(WORKED[word], negated=negated), " ".join(words[at : verb + 1])
            return
        if word in COPULAS:
            if not (word in words_for.PRESENT and at and words[at - 1] in INDEFINITE):
                yield from _predicate(words, at, verb)
            return


def _predicate(words: Words, at: int, copula: int) -> Iterator[Statement]:
    for i in range(copula + 1, min(copula + 1 + _TO_WORD, len(words))):
        word = words[i]
        if word in words_for.BETWEEN_UNREAL or word in words_for.PARTLY:
            return
        if word not in SAYS:
            continue
        between, said = words[at + 1 : i], " ".join(words[at : i + 1])
        if words_for.NEITHER.intersection(between):
            both = any(w in SAYS and SAYS[w] is not SAYS[word] for w in words[i + 1 : i + 6])
            yield frozenset({Verdict.NEUTRAL}) if both else _ALL - {SAYS[word]}, said
        elif not (_attributive(words, i) or _beside(words, i) or _hedged(between)):
            yield _claim(SAYS[word], negated=_negated(between)), said
        return


def _named(words: Words, at: int, others: set[str]) -> Iterator[Statement]:
    """``Right call``, ``it was the wrong decision``: the word stands before the noun."""
    first = at - (at > 0 and (words[at - 1] in THE or words[at - 1] in INDEFINITE))
    before = words[max(0, first - 4) : first]
    if (before and COPULAS.isdisjoint(before[-3:])) or _supposed(words, at):
        return
    if any(w in words_for.BETWEEN_UNREAL or w in OTHERS or w in others for w in before):
        return
    if not words_for.PARTLY.isdisjoint(before) or words[at + 2 : at + 3] in (["was"], ["is"]):
        return  # "the right call was to wait" speaks of another
    said = words[max(0, first - 3) : at + 2]
    yield _claim(SAYS[words[at]], negated=_negated(words[max(0, first - 3) : at])), " ".join(said)


def _negated(between: Words) -> bool:
    """Whether these words turn the statement round; ``not only`` does not."""
    if "far" in between and "from" in between:
        return True
    return any(
        word in words_for.NEGATIONS and not words_for.ONLY.intersection(between[i + 1 : i + 2])
        for i, word in enumerate(between)
    )


def _hedged(between: Words) -> bool:
    """``Not entirely wrong`` says neither."""
    return _negated(between) and not words_for.WHOLLY.isdisjoint(between)


def _attributive(words: Words, at: int) -> bool:
    """Whether the word belongs to a noun that is not the call: ``was on the right side``."""
    if words[at] in words_for.MISTAKES or (words[at - 1] not in THE | INDEFINITE):
        return False
    return NOUNS.isdisjoint(words[at + 1 : at + 2])


def _beside(words: Words, at: int) -> bool:
    """Whether what follows turns the statement to something else: ``right to worry``."""
    after = words[at + 1 : at + 5]
    if not after:
        return False
    if after[0] in ("on", "in", "as", "at"):
        return not words_for.ASIDE.isdisjoint(after[1:])
    return after[0] in BESIDE


def _claim(verdict: Verdict, *, negated: bool) -> Claim:
    return _ALL - {verdict} if negated else frozenset({verdict})


def _cjk(text: str) -> Iterator[Statement]:
    for pattern, verdict, negated in words_for.CJK:
        for match in pattern.finditer(text):
            if not words_for.CJK_UNREAL.search(text[max(0, match.start() - 4) : match.end()]):
                yield _claim(verdict, negated=negated), match[0]
