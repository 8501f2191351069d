"""Asking a language model for a JSON object, on any OpenAI-compatible server.

One :class:`Chat` serves several threads. It finds out once whether the server
takes a JSON schema, only JSON mode, or neither, and remembers it. Whatever goes
wrong comes back as a :class:`~tradmem.lessons.reflect.Fault`.
"""

import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tradmem.errors import UsageError
from tradmem.lessons.meter import current_meter
from tradmem.lessons.reflect import Fault, FaultKind, Usage
from tradmem.lessons.wire import Answer, Problem, problem, read_body
from tradmem.model_settings import ModelSettings
from tradmem.variables import VARIABLES

Message = Mapping[str, str]
LONGEST_WAIT = 60.0  # seconds that a server may ask for; beyond it nothing more is asked of it


class Mode(StrEnum):
    """How the server is asked for JSON, from the strictest to none at all."""

    SCHEMA = "schema"
    JSON = "json"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered.

    Attributes:
        text: the answer; None if the server sent none.
        refusal: the model's words where it refused.
        finish: why it stopped, as the server says.
        mode: how it was asked for JSON.
        seconds: from the first call to the answer.
        usage: of all the calls that it took.
    """

    text: str | None
    refusal: str
    finish: str
    mode: Mode
    seconds: float
    usage: Usage


class Chat:
    """A model behind the chat completions of an OpenAI-compatible server.

    Args:
        settings: which model, where, and how patiently.
        options: further fields of the request, such as ``{"temperature": 0}``.

    Raises:
        UsageError: no model or no key is known.
    """

    def __init__(
        self, settings: ModelSettings, *, options: Mapping[str, Any] | None = None
    ) -> None:
        if settings.lacks:
            raise UsageError(settings.lacks)
        self.settings, self.model, self.host = settings, settings.model, settings.host
        self._options = dict(options or {})
        self._mode = Mode.SCHEMA
        self._not_before = 0.0  # of the monotonic clock: the server asked us all to wait
        self._lock = threading.Lock()
        self._client: Any = None

    def ask(
        self,
        messages: Sequence[Message],
        *,
        name: str,
        schema: Mapping[str, Any],
        stop: threading.Event | None = None,
    ) -> Reply | Fault:
        """One answer, or why there is none after all retries.

        Args:
            messages: the conversation so far.
            name: of the schema.
            schema: the JSON schema of the answer.
            stop: ends the wait before a further try.
        """
        started, calls, tries, mode = time.monotonic(), 0, 0, self._mode
        stop = stop or threading.Event()
        while True:
            held = self._not_before - time.monotonic()
            if held > LONGEST_WAIT:
                message = f"{self.host} asks to wait for {held:.0f} s; run again later"
                return Fault(kind=FaultKind.RATE_LIMITED, message=message, usage=Usage(calls=calls))
            if stop.wait(max(0.0, held)):
                message = "not asked: the run was stopped"
                return Fault(kind=FaultKind.NOT_ASKED, message=message, usage=Usage(calls=calls))
            calls += 1
            if meter := current_meter():
                meter.begin()
            answer = self._call(messages, mode, name, schema)
            if isinstance(answer, Answer):
                self._mode = mode
                return self._reply(answer, mode, time.monotonic() - started, calls)
            if answer.about_format and mode is not Mode.TEXT:
                mode = Mode.JSON if mode is Mode.SCHEMA else Mode.TEXT
                continue
            tries += 1
            if not answer.kind.passing or tries > self.settings.retries:
                return self._fault(answer, calls)
            if answer.kind is not FaultKind.RATE_LIMITED or not answer.wait:  # else all are held
                stop.wait(_pause(tries) if answer.wait is None else min(answer.wait, LONGEST_WAIT))

    def close(self) -> None:
        """Let go of the connections; the next call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be written anywhere: the key, unless it is a placeholder."""
        key = self.settings.api_key
        return (key,) if len(key) >= _SHORTEST_SECRET else ()

    def estimate(self, messages: Sequence[Message]) -> float:
        """Roughly what one call costs, in US dollars; 0 where no price is known."""
        letters = sum(len(message["content"]) for message in messages)
        return self._cost(letters // _LETTERS, _USUAL_ANSWER) or 0.0

    def _call(
        self, messages: Sequence[Message], mode: Mode, name: str, schema: Mapping[str, Any]
    ) -> Answer | Problem:
        import openai  # noqa: PLC0415 - half a second that only those who ask a model pay

        request: dict[str, Any] = {"model": self.model, "messages": list(messages)}
        if mode is Mode.SCHEMA:
            described = {"name": name, "strict": True, "schema": schema}
            request["response_format"] = {"type": "json_schema", "json_schema": described}
        elif mode is Mode.JSON:
            request["response_format"] = {"type": "json_object"}
        try:
            completions = self._connected().chat.completions.with_raw_response
            raw = completions.create(**request, extra_body=self._options)
            answer = read_body(raw.http_response.text)
        except openai.APITimeoutError:
            detail = f"no answer within {self.settings.timeout:g} s"
            answer = Problem(status=0, kind=FaultKind.TIMED_OUT, detail=detail)
        except openai.APIStatusError as error:
            body = error.body if isinstance(error.body, dict) else {}
            detail = str(body.get("message") or error.message)
            code = f"{error.code} {error.type} {error.param}"
            answer = problem(error.status_code, code, detail, error.response.headers)
        except (openai.OpenAIError, ValueError) as error:
            detail = str(error.__cause__ or error)
            answer = Problem(status=0, kind=FaultKind.UNREACHABLE, detail=detail)
        if isinstance(answer, Problem) and answer.kind is FaultKind.RATE_LIMITED and answer.wait:
            with self._lock:  # everybody waits, not only who was told
                self._not_before = max(self._not_before, time.monotonic() + answer.wait)
        return answer

    def _connected(self) -> Any:
        import openai  # noqa: PLC0415

        timeout = self.settings.timeout
        with self._lock:
            if self._client is None:
                self._client = openai.OpenAI(
                    api_key=self.settings.api_key,
                    base_url=self.settings.base_url,
                    timeout=openai.Timeout(timeout, connect=min(10.0, timeout)),
                    max_retries=0,
                )
            return self._client

    def _reply(self, answer: Answer, mode: Mode, seconds: float, calls: int) -> Reply:
        sent, got, cost = answer.prompt_tokens, answer.completion_tokens, answer.cost
        cost = self._cost(sent, got) if cost is None else cost
        if meter := current_meter():
            meter.answered(sent, got, cost)
        return Reply(
            text=answer.text,
            refusal=answer.refusal,
            finish=answer.finish,
            mode=mode,
            seconds=seconds,
            usage=Usage(calls=calls, prompt_tokens=sent, completion_tokens=got, cost=cost),
        )

    def _cost(self, sent: int, received: int) -> float | None:
        """US dollars; None without prices, and where a server counts no tokens."""
        if self.settings.prices is None or not sent + received:
            return None
        each_sent, each_received = self.settings.prices
        return (sent * each_sent + received * each_received) / 1e6

    def _fault(self, problem: Problem, calls: int) -> Fault:
        """One line for a person: who said what, and what to do."""
        said = " ".join(problem.detail.split()).rstrip(".") or "no reason given"
        for secret in self.secrets:
            said = said.replace(secret, "***")
        said = said if len(said) <= _LONGEST_DETAIL else said[:_LONGEST_DETAIL] + "\u2026"
        status = f" ({problem.status})" if problem.status else ""
        advice = _ADVICE.get(problem.kind, "").format(
            key=self.settings.key_name, name=VARIABLES["model"][0], model=self.model
        )
        return Fault(
            kind=problem.kind,
            message=f"{self.host}: {problem.kind}{status}: {said}" + (advice and f"; {advice}"),
            fatal=problem.kind.fatal,
            usage=Usage(calls=calls),
        )


_SHORTEST_SECRET = 8  # shorter keys are placeholders, such as "none"
_LONGEST_DETAIL = 200
_LETTERS = 4  # of English in a token
_USUAL_ANSWER = 300  # tokens
_ADVICE = {
    FaultKind.UNAUTHORISED: "set {key} to a key that it takes",
    FaultKind.UNKNOWN_MODEL: "set {name} to a model that it has instead of {model}",
    FaultKind.NO_CREDIT: "add credit to the account",
    FaultKind.UNREACHABLE: "check the base URL and the network",
}


def _pause(tries: int) -> float:
    """Seconds before another try: growing, and not the same for all threads."""
    return min(8.0, 0.25 * 2.0 ** (tries - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
