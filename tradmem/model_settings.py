"""Which language model is asked, and how: what a caller says, else the environment.

The one place that knows the names of the environment; ``VARIABLES`` lists them.
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

OPENAI = "https://api.openai.com/v1"
# By setting, the variables that hold it; the first that is set counts.
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "model": ("TRADMEM_MODEL", "OPENAI_MODEL"),
    "base_url": ("TRADMEM_BASE_URL", "OPENAI_BASE_URL"),
    "api_key": ("TRADMEM_API_KEY", "OPENAI_API_KEY"),
    "timeout": ("TRADMEM_MODEL_TIMEOUT",),
    "retries": ("TRADMEM_MODEL_RETRIES",),
    "concurrency": ("TRADMEM_MODEL_CONCURRENCY",),
    "cutoff": ("TRADMEM_MODEL_CUTOFF",),
    "prices": ("TRADMEM_MODEL_PRICES",),
    "max_cost": ("TRADMEM_MODEL_MAX_COST",),
}
# The variable under which a provider's own documentation puts its key; before OpenAI's there.
HOST_KEYS: Mapping[str, str] = {
    "openrouter.ai": "OPENROUTER_API_KEY",
    "deepseek.com": "DEEPSEEK_API_KEY",
    "groq.com": "GROQ_API_KEY",
    "mistral.ai": "MISTRAL_API_KEY",
    "together.xyz": "TOGETHER_API_KEY",
    "x.ai": "XAI_API_KEY",
    "googleapis.com": "GEMINI_API_KEY",
}
NO_KEY = "none"  # what is sent to a server that may need no key


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


def model_settings(**given: Unpack[ModelOptions]) -> ModelSettings:
    """What is given, and for the rest what the environment says.

    Raises:
        UsageError: a value cannot be; the message names the variable or the argument.
    """
    said: Mapping[str, Any] = given
    base_url = _setting(said, "base_url", _url, OPENAI, "an address such as " + OPENAI)
    host = urlsplit(base_url).hostname or ""
    names = (VARIABLES["api_key"][0], *_provider_keys(host), VARIABLES["api_key"][-1])
    return ModelSettings(
        model=_setting(said, "model", str.strip, "", "a name"),
        base_url=base_url,
        api_key=_key(said.get("api_key"), names) or ("" if base_url == OPENAI else NO_KEY),
        key_name=_first_set(names) or names[1],
        timeout=_setting(said, "timeout", _seconds, 60.0, "seconds above 0, such as 60"),
        retries=_setting(said, "retries", _whole, 2, "a whole number, such as 2"),
        concurrency=_setting(said, "concurrency", _at_least_one, 4, "1 or more, such as 4"),
        cutoff=_setting(said, "cutoff", _last_day, None, "a date or a month, such as 2025-06"),
        prices=_setting(
            said,
            "prices",
            _prices,
            None,
            "US dollars per million tokens in and out, such as 2.5,10",
        ),
        max_cost=_setting(said, "max_cost", _dollars, None, "US dollars, such as 0.50"),
    )


def is_set_up() -> bool:
    """Whether the environment names a key or a server, which means that a model is to be asked."""
    return bool(_first_set((*VARIABLES["api_key"], *VARIABLES["base_url"])))


_Value = TypeVar("_Value")


def _setting(
    given: Mapping[str, Any], name: str, read: Callable[[Any], _Value], default: _Value, wanted: str
) -> _Value:
    """One setting: as given, as its variable says, or the default."""
    value, where = given.get(name), name
    if value is None:
        where = _first_set(VARIABLES[name])
        if not where:
            return default
        value = os.environ[where].strip()
    try:
        return read(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"{where} is {value!r}; it has to be {wanted}") from error


def _first_set(names: Sequence[str]) -> str:
    return next((name for name in names if os.environ.get(name, "").strip()), "")


def _provider_keys(host: str) -> tuple[str, ...]:
    return tuple(
        name for domain, name in HOST_KEYS.items() if host == domain or host.endswith("." + domain)
    )


def _key(given: str | None, names: Sequence[str]) -> str:
    """The key; what could be none is refused without being shown."""
    where = "" if given else _first_set(names)
    key = (given or os.environ.get(where, "")).strip()
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise UsageError(f"{where or 'api_key'} holds a character that no key has; copy it again")
    return key


def _url(value: str) -> str:
    parts = urlsplit(value.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(value)
    return value.strip()


def _dollars(value: float | str) -> float:
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


def _last_day(value: date | str) -> date:
    """A date; of a month its last one, so that a lesson is rather flagged than not."""
    if isinstance(value, str) and len(value) == len("2025-06"):
        first = parse_date(f"{value}-01")
        return first.replace(day=calendar.monthrange(first.year, first.month)[1])
    return parse_date(value)
