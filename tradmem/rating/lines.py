"""The lines of a model's answer as a reader would see them: no reasoning, no markup."""

import html
import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from tradmem.rating.value import NOT_OURS, RATING
from tradmem.rating.words import fold

# No label with its value is longer; it also bounds the work per line.
_WIDTH = 400
_THOUGHT = re.compile(
    r"[<◁](?P<end>/?)(?:\w{1,20}:)?"
    r"(?:think|thinking|thoughts?|reasoning|scratchpad|reflection|inner_monologue)"
    r"(?:\s[^<>]{0,80})?[>▷]|\[(?P<end2>/?)THINK\]",
    re.IGNORECASE,
)
_HARMONY_FINAL = "<|channel|>final<|message|>"
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]{0,30})(?:\s[^<>]{0,200})?/?>")
_INLINE = re.compile("[abiu]|em|strong|span|font|code|mark|small|sub|sup|tt|kbd|big")
_STRUCK = re.compile(r"~~[^~\n]{1,80}~~|<(s|del|strike)>[^<\n]{0,80}</\1>", re.IGNORECASE)
_FENCE = re.compile(r"[\s>]*(?:`{3,}|~{3,})\s*\w*\s*")
_OBJECT = re.compile(r"^[ \t>]{0,40}(?=\{)", re.MULTILINE)
_PAIR = re.compile(r"""(?<=[{,])\s{0,40}(?=["'][\w -]{1,40}["']\s{0,9}:)""")
_MAX_OBJECTS = 16
_MAX_DEPTH = 8

# Soft hyphen, variation selectors, joiners and direction marks, byte order mark.
_INVISIBLE = [0xAD, 0xFE0E, 0xFE0F, 0xFEFF, *range(0x200B, 0x2010)]
_INVISIBLE += [*range(0x202A, 0x202F), *range(0x2060, 0x206A)]
_PICTURES = [*range(0x1F000, 0x1FB00), *range(0x26A0, 0x2700), 0x2605, 0x2606, 0x2B50]
_QUOTES = '*`"\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a\u300c\u300d\u300e\u300f'
_FOLD: dict[int, str | None] = {
    **dict.fromkeys(range(0x2500, 0x2580), "-"),
    **dict.fromkeys((0x2502, 0x2503, 0x2551), "|"),
    **dict.fromkeys((*_INVISIBLE, *_PICTURES, *map(ord, _QUOTES))),
    ord("_"): " ",
    0x2019: "'",
}
_CAMEL = re.compile(r"[A-Z](?<=[a-z][a-z][A-Z])(?=[a-z])")  # starts with what is rare
_LOOSE_QUOTE = re.compile(r"(?<!\w)'|'(?!\w)")
_LATEX_ARROW = re.compile(r"\$?\\(?:long)?(?:right)?(?:arrow|to)\b\$?", re.IGNORECASE)
_LATEX = re.compile(r"\\[A-Za-z]{2,12}(?=\W)")


def answer_lines(text: str, is_label: Callable[[str], bool]) -> list[str]:
    """The lines of an answer without reasoning and markup, their case kept.

    Args:
        text: what a model wrote.
        is_label: whether the name of a JSON key or of an XML element is a label.
    """
    text = _without_comments(_without_reasoning(text))
    if "{" in text:
        text = _unfold_objects(text, is_label)
    if "<" in text or "~~" in text:
        text = _TAG.sub(lambda tag: _show_tag(tag, is_label), _STRUCK.sub(" ", text))
    return [clean(line) if line else "" for line in text.splitlines()]


def clean(line: str) -> str:
    """One line in plain characters: compatibility forms folded, markup and quotes gone."""
    return _clean(line[:_WIDTH])


@lru_cache(maxsize=1024)
def _clean(line: str) -> str:
    if _FENCE.fullmatch(line):
        return ""
    if "&" in line:
        line = html.unescape(line)
    if "\\" in line and (plain := _LATEX.sub(" ", _LATEX_ARROW.sub(" → ", line))) != line:
        line = re.sub(r"[{}$]", " ", plain)
    line = _CAMEL.sub(r" \g<0>", fold(line).translate(_FOLD))
    if "'" in line:
        line = _LOOSE_QUOTE.sub("", line)
    return " ".join(line.split())


def _without_reasoning(text: str) -> str:
    """Cut reasoning out; an end without a start closes a block that began unseen."""
    if not any(opening in text for opening in "<◁["):
        return text
    kept: list[str] = []
    at, inside = 0, False
    for mark in _THOUGHT.finditer(text):
        if mark["end"] or mark["end2"]:
            at, inside = mark.end(), False
        elif not inside:
            kept.append(text[at : mark.start()])
            at, inside = mark.end(), True
    if not inside:
        kept.append(text[at:])
    return "\n".join(kept).rpartition(_HARMONY_FINAL)[2]


def _without_comments(text: str) -> str:
    kept: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return "".join(kept) + text[at:]


def _show_tag(tag: re.Match[str], is_label: Callable[[str], bool]) -> str:
    end, name = tag[1], tag[2].lower()
    if _INLINE.fullmatch(name):
        return ""
    if name in ("td", "th"):
        return "|" if end else ""
    if is_label(clean(tag[2])):
        return "\n" if end else f"\n{tag[2]}: "
    # An unknown name may be the value itself, as in <Buy>.
    return tag[0] if RATING.fullmatch(name) else "\n"


def _unfold_objects(text: str, is_label: Callable[[str], bool]) -> str:
    """JSON objects as lines ``key: value``; what is no whole JSON is broken at its keys."""
    decoder = json.JSONDecoder(object_pairs_hook=tuple)
    kept: list[str] = []
    at = 0
    for tries, start in enumerate(_OBJECT.finditer(text)):
        if tries >= _MAX_OBJECTS:
            break
        if start.end() < at:
            continue
        try:
            value, end = decoder.raw_decode(text, start.end())
        except (ValueError, RecursionError):
            continue
        kept += [_PAIR.sub("\n", text[at : start.start()]), *_pair_lines(value, is_label)]
        at = end
    return "\n".join([*kept, _PAIR.sub("\n", text[at:])])


def _pair_lines(value: tuple[Any, ...], is_label: Callable[[str], bool]) -> Iterator[str]:
    """Down to the first level that has a label: deeper ones are about something else."""
    level: list[tuple[str, Any]] = [("", value)]
    for _ in range(_MAX_DEPTH):
        deeper: list[tuple[str, Any]] = []
        found = False
        for name, item in _pairs(level):
            if isinstance(item, list) and all(isinstance(part, str) for part in item):
                item = " / ".join(item)  # noqa: PLW2901
            plain = clean(name)
            if isinstance(item, str):
                yield f"{name}: {item}"
                found = found or is_label(plain)
            elif isinstance(item, tuple | list) and not NOT_OURS.search(plain):
                deeper.append((f"{name} " if is_label(plain) else "", item))
        if found or not deeper:
            return
        level = deeper


def _pairs(level: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The pairs of these objects and of the objects in these lists, under their full names."""
    for prefix, value in level:
        for item in value:
            pairs = (item,) if isinstance(value, tuple) else item if isinstance(item, tuple) else ()
            for key, inner in pairs:
                yield prefix + " ".join(key.split()), inner
