"""Which language model is asked, and how.

What a caller says is stronger than ``TRADMEM_*`` in the environment, this than the table
``[model]`` of the settings file, and that than the variables that other programs share. The
names in either stand in :mod:`tradmem.variables`.
"""

import calendar
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import isfinite
from typing import Any, TypedDict, TypeVar, Unpack
from urllib.parse import urlsplit

from tradmem.clock import parse_date
from tradmem.errors import UsageError
from tradmem.masking import shown
from tradmem.settings_file import SettingsFile, find_file
from tradmem.variables import HOST_KEYS, KEYS, SECTION, VARIABLES

OPENAI = "https://api.openai.com/v1"
NO_KEY = "none"  # what is sent to a server that may need no key
_TEXTS = frozenset({"model", "base_url", "api_key", "cutoff"})  # what may be a string there
_OURS = "TRADMEM_"
_HERE = ("localhost", "127.0.0.1", "::1")


class ModelOptions(TypedDict, total=False):
    """What :func:`model_settings` takes; None is the same as nothing.

    Attributes:
        model: its name.
        base_url: of an OpenAI-compatible server; OpenAI's by default.
        api_key: a server other than OpenAI's may need none.
        timeout: seconds to wait for an answer; 60 by default.
        retries: further calls after a passing fault; 2 by default.
        concurrency: entries asked about at once; 4 by default.
        cutoff: the last date of the model's training data, as its maker states it.
        prices: US dollars per million tokens sent and received.
        max_cost: US dollars a run; no call is begun that would probably exceed it.
    """

    model: str | None
    base_url: str | None
    api_key: str | None
    timeout: float | None
    retries: int | None
    concurrency: int | None
    cutoff: date | None
    prices: tuple[float, float] | None
    max_cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Which model is asked, and how; see :class:`ModelOptions`.

    Attributes:
        key_name: the variable that holds the key, or else the one to set.
    """

    model: str = ""
    base_url: str = OPENAI
    api_key: str = field(default="", repr=False)
    key_name: str = VARIABLES["api_key"][-1]
    timeout: float = 60.0
    retries: int = 2
    concurrency: int = 4
    cutoff: date | None = None
    prices: tuple[float, float] | None = None
    max_cost: float | None = None

    @property
    def host(self) -> str:
        """The server's name and port."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def lacks(self) -> str:
        """What has to be set before a model can be asked, as one line; empty if nothing."""
        if not self.model:
            return f"no model is named; set {VARIABLES['model'][0]} to one that the server has"
        if not self.api_key:
            return f"no key for the model is known; set {self.key_name}"
        return ""


def model_settings(
    *,
    file: SettingsFile | None = None,
    env: Mapping[str, str] = os.environ,
    **given: Unpack[ModelOptions],
) -> ModelSettings:
    """What is given, and for the rest what the environment and the settings file say.

    Args:
        file: by default the one that belongs to the working folder.
        env: the environment.
        given: see :class:`ModelOptions`.

    Raises:
        UsageError: a value cannot be; the message names the variable or the argument.
    """
    said = _Said(given, env, find_file() if file is None else file)
    base_url = said.setting("base_url", _url, OPENAI, "an address such as " + OPENAI)
    names = said.key_names(base_url)
    return ModelSettings(
        model=said.setting("model", _text, "", "a name"),
        base_url=base_url,
        api_key=said.key(names) or ("" if base_url == OPENAI else NO_KEY),
        key_name=said.first(names) or (*names, names[0])[1],
        timeout=said.setting("timeout", _seconds, 60.0, "seconds above 0, such as 60"),
        retries=said.setting("retries", _whole, 2, "a whole number, such as 2"),
        concurrency=said.setting("concurrency", _at_least_one, 4, "1 or more, such as 4"),
        cutoff=said.setting("cutoff", last_day, None, "a date or a month, such as 2025-06"),
        prices=said.setting(
            "prices", _prices, None, "US dollars per million tokens in and out, such as 2.5,10"
        ),
        max_cost=said.setting("max_cost", _dollars, None, "US dollars, such as 0.50"),
    )


def is_set_up(*, file: SettingsFile | None = None, env: Mapping[str, str] = os.environ) -> bool:
    """Whether a key or a server is named, which means that a model is to be asked."""
    said = _Said({}, env, find_file() if file is None else file)
    return any(said.source(name) for name in ("api_key", "base_url"))


def model_sources(file: SettingsFile, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """By the key of the settings file, where each value comes from: a variable or the file.

    What is not said anywhere is not among them; whether a value can be is not asked.
    """
    said = _Said({}, env, file)
    try:
        base_url = said.setting("base_url", _url, OPENAI, "an address")
    except UsageError:
        base_url = OPENAI
    found = {name: said.source(name) for name in VARIABLES}
    found["api_key"] = said.key_source(said.key_names(base_url))
    return {KEYS[name]: source for name, source in found.items() if source}


_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class _Said:
    """What a caller, the environment and the settings file say, each of them raw."""

    given: Mapping[str, Any]
    env: Mapping[str, str]
    file: SettingsFile

    def setting(
        self, name: str, read: Callable[[Any], _Value], default: _Value, wanted: str
    ) -> _Value:
        """One setting: as given, as its variable or the file says, or the default."""
        value, where = self.given.get(name), name
        if value is None:
            where = self.source(name)
            if not where:
                return default
            in_file = where == str(self.file.path)
            value = self._in_file(name) if in_file else self.env[where].strip()
            where = f"{where}: {SECTION}.{KEYS[name]}" if in_file else where
            if in_file and isinstance(value, str) and name not in _TEXTS:
                raise UsageError(f"{where} is {shown(value)}; it has to be {wanted}, and no text")
        try:
            return read(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise UsageError(f"{where} is {shown(value)}; it has to be {wanted}") from error

    def source(self, name: str) -> str:
        """The variable that sets something, or the path of the file; empty if neither does."""
        return self._of(VARIABLES[name], self._in_file(name))

    def first(self, names: Sequence[str]) -> str:
        """The first of some variables that is set."""
        return next((name for name in names if self.env.get(name, "").strip()), "")

    def key_names(self, base_url: str) -> tuple[str, ...]:
        """The variables in which the key for a server may stand.

        A key for OpenAI goes to another server if the caller or the environment names
        that server, and not because a file that was found does.
        """
        host = urlsplit(base_url).hostname or ""
        ours, openai = VARIABLES["api_key"]
        named_by_file = (
            self.given.get("base_url") is None
            and self.source("base_url") == str(self.file.path)
            and not (base_url == OPENAI or host in _HERE or host.endswith(".openai.com"))
        )
        return (ours, *_provider_keys(host), *(() if named_by_file else (openai,)))

    def key_source(self, names: Sequence[str]) -> str:
        """Where the key comes from; empty if there is none."""
        return self._of(names, self._in_file("api_key"))

    def key(self, names: Sequence[str]) -> str:
        """The key; what could be none is refused without being shown."""
        given = self.given.get("api_key")
        where = "" if given else self.key_source(names)
        if where and where == str(self.file.path):
            given, where = self._in_file("api_key"), f"{where}: {SECTION}.api_key"
        key = given or self.env.get(where, "")
        key = key.strip() if isinstance(key, str) else "\n"
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise UsageError(
                f"{where or 'api_key'} holds a character that no key has; copy it again"
            )
        return key

    def _of(self, names: Sequence[str], in_file: Any) -> str:
        ours = self.first([name for name in names if name.startswith(_OURS)])
        file = str(self.file.path) if in_file is not None else ""
        return ours or file or self.first(names)

    def _in_file(self, name: str) -> Any:
        return self.file.section(SECTION).get(KEYS[name])


def _provider_keys(host: str) -> tuple[str, ...]:
    return tuple(
        name for domain, name in HOST_KEYS.items() if host == domain or host.endswith("." + domain)
    )


def _text(value: str) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value.strip()


def _url(value: str) -> str:
    value = _text(value)
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(value)
    return value


def _dollars(value: float | str) -> float:
    if isinstance(value, bool):
        raise TypeError(value)
    number = float(value)
    if not (isfinite(number) and number >= 0):
        raise ValueError(value)
    return number


def _seconds(value: float | str) -> float:
    number = _dollars(value)
    if not number:
        raise ValueError(value)
    return number


def _whole(value: int | str) -> int:
    if isinstance(value, bool):
        raise TypeError(value)
    number = int(value)
    if number < 0 or number != float(value):
        raise ValueError(value)
    return number


def _at_least_one(value: int | str) -> int:
    number = _whole(value)
    if not number:
        raise ValueError(value)
    return number


def _prices(value: Sequence[float] | str) -> tuple[float, float]:
    sent, received = value.split(",") if isinstance(value, str) else value
    return _dollars(sent), _dollars(received)


def last_day(value: date | str) -> date:
    """A date; of a month its last one, so that a lesson is rather flagged than not."""
    if isinstance(value, str) and len(value) == len("2025-06"):
        first = parse_date(f"{value}-01")
        return first.replace(day=calendar.monthrange(first.year, first.month)[1])
    return parse_date(value)
