"""The lines of a ledger as we write them, as expressions over bytes.

What fits one of these is read by a parser just as it looks; anything else takes a parser to
tell. So a block can be read by searching in it, for a small part of what parsing costs.
"""

# With a `+` behind it, a `*` gives nothing back of what it took: nothing else here could use it.
_TEXT = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-f]{4})[^"\\\x00-\x1f]*+)*+"'
_WORD = rb'"[^"\\\x00-\x1f]*+"'
_TEXTS = rb"\[(?:" + _TEXT + rb"(?:," + _TEXT + rb")*+)?\]"
_NUMBER = rb"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,30})?(?:[Ee][+-]?[0-9]{1,2})?"
_COUNT = rb"(?:0|[1-9][0-9]{0,8})"
_DATE = rb"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
INSTANT = _DATE + rb"T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{6})?Z"
_ANY = rb"(?:" + rb"|".join((_TEXT, _NUMBER, _TEXTS, rb"null|true|false")) + rb")"


def _optional(*pairs: tuple[bytes, bytes]) -> bytes:
    return b"".join(rb'(?:,"' + name + rb'":' + value + rb")?" for name, value in pairs)


# Names that no further value of an identity has; each may stand once, and in its place.
_RESERVED = (
    rb"v|id|at|add|date|ticker|rating|agent|revision|horizon|sha256|decided_at|recalled"
    rb"|recalled_as_of|cited|flags|valid_until|torn|withheld|holdout"
)
# Its groups: the id, when it was decided, when it was stamped, the rating, the horizon, what
# was recalled, and further values.
IDENTITY = (
    rb'\{"v":1,"id":"([0-9a-f]{12})"'
    + _optional((rb"decided_at", rb'"(' + INSTANT + rb')"'), (rb"at", rb'"(' + INSTANT + rb')"'))
    + rb',"date":"'
    + _DATE
    + rb'","ticker":'
    + _WORD
    + _optional(
        (rb"rating", rb'(?:"(Buy|Overweight|Hold|Underweight|Sell)"|null)'),
        (rb"agent", _TEXT),
        (rb"revision", _COUNT),
        (rb"horizon", rb"(" + _COUNT + rb")"),
        (rb"recalled", rb"(" + _TEXTS + rb")"),
        (rb"cited", _TEXTS),
        (rb"flags", _TEXTS),
        (rb"withheld", _TEXTS),
        (rb"holdout", _NUMBER),
        (rb"recalled_as_of", rb'"' + INSTANT + rb'"'),
        (rb"valid_until", rb'"' + INSTANT + rb'"'),
    )
    + rb',"sha256":"[0-9a-f]{64}"((?:,"(?!(?:'
    + _RESERVED
    + rb')")[a-z0-9_]+":'
    + _ANY
    + rb")*+)\}"
)
_DATED = rb'"' + _DATE + rb'"'
_FIGURE_NAMES = (
    *((name, _NUMBER) for name in (b"entry_price", b"exit_price", b"entry_close", b"exit_close")),
    (b"benchmark", _TEXT),
    (b"benchmark_return", _NUMBER),
    (b"benchmark_entry_date", _DATED),
    (b"benchmark_exit_date", _DATED),
    (b"benchmark_entry_price", _NUMBER),
    (b"benchmark_exit_price", _NUMBER),
    (b"benchmark_entry_close", _NUMBER),
    (b"benchmark_exit_close", _NUMBER),
    (b"basis", _TEXT),
    (b"sigma", _NUMBER),
    (b"band", rb"(" + _NUMBER + rb")"),
    (b"beta", _NUMBER),
    (b"alpha_beta", _NUMBER),
    (b"source", _TEXT),
    (b"flags", _TEXTS),
)
_FIGURES = (
    _optional((b"entry", rb'"(' + _DATE + rb')"'), (b"exit", rb'"(' + _DATE + rb')"'))
    + _optional(*_FIGURE_NAMES)
    + rb'(?:,"(?!(?:add|at|known_at|horizon|sessions|raw|alpha|entry|exit|'
    + rb"|".join(name for name, _ in _FIGURE_NAMES)
    + rb')")[a-z_]++":'
    + _NUMBER
    + rb")*+"
)
# Its groups: when it was stamped, horizon, sessions, raw return, alpha, when it was known, and
# the dates of entry and exit, and the band.
OUTCOME = (
    rb'\{"add":"outcome"(?:,"at":"('
    + INSTANT
    + rb')")?,"horizon":('
    + _COUNT
    + rb'),"sessions":('
    + _COUNT
    + rb'),"raw":('
    + _NUMBER
    + rb'),"alpha":('
    + _NUMBER
    + rb'|null),"known_at":"('
    + INSTANT
    + rb')"'
    + _FIGURES
    + rb"\}"
)
# Its groups: the hash of the text, and further values.
REFLECTION = (
    rb'\{"add":"reflection"'
    + _optional((rb"known_at", rb'"' + INSTANT + rb'"'), (rb"at", rb'"' + INSTANT + rb'"'))
    + rb',"sha256":"([0-9a-f]{64})"((?:,"(?!(?:add|at|known_at|sha256)")[a-z0-9_]+":'
    + _ANY
    + rb")*+)\}"
)
