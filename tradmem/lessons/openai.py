"""Lessons written by a language model and checked by code."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from tradmem.clock import Clock, system_clock
from tradmem.errors import LogError
from tradmem.lessons.chat import Chat, Message, Reply
from tradmem.lessons.checks import check, tidy
from tradmem.lessons.digest import ModelDigester
from tradmem.lessons.entities import tags_of
from tradmem.lessons.exchanges import STUCK_AFTER, Exchanges
from tradmem.lessons.figures import given
from tradmem.lessons.keeping import keep
from tradmem.lessons.parallel import in_order
from tradmem.lessons.prompt import SCHEMA, Draft, Prompt, lesson_prompt, read_answer, repair
from tradmem.lessons.reflect import (
    NO_USAGE,
    RELATED,
    Case,
    Fault,
    FaultKind,
    Lesson,
    lesson_hash,
)
from tradmem.lessons.run import Run
from tradmem.model_settings import ModelOptions, ModelSettings, model_settings

log = logging.getLogger("tradmem")
_REJECTED = "the lesson was rejected: "


class OpenAIReflector:
    """Asks a model behind an OpenAI-compatible server for each lesson.

    One call per entry, and one more that names the faults where the answer fails
    the checks; what still fails is a fault, and the entry stays due. A key that is
    refused, a model that is not there, an account without credit, a spent budget
    and a server that stays silent end the asking; the rest is then ``not asked``.

    Args:
        settings: which model, where and how; by default what is ``given``, and for the
            rest what the environment says.
        exchanges: where the raw exchanges and the attempts are kept.
        retry_stuck: whether to ask about entries too that were asked about in vain.
        options: further fields of the request, such as ``{"temperature": 0}``.
        clock: stamps the exchanges.
        given: ``model``, ``base_url``, ``api_key``, ``timeout``, ``retries``,
            ``concurrency``, ``cutoff``, ``prices`` and ``max_cost``; see
            :class:`tradmem.model_settings.ModelOptions`.

    Raises:
        UsageError: no model or no key is known, or a value cannot be.
    """

    related = RELATED

    def __init__(
        self,
        settings: ModelSettings | None = None,
        *,
        exchanges: Exchanges | None = None,
        retry_stuck: bool = False,
        options: Mapping[str, Any] | None = None,
        clock: Clock = system_clock,
        **given: Unpack[ModelOptions],
    ) -> None:
        self.settings = settings or model_settings(**given)
        self.chat = Chat(self.settings, options=options)
        self.exchanges, self.retry_stuck, self._clock = exchanges, retry_stuck, clock

    def reflect(self, cases: Sequence[Case]) -> Iterator[Lesson | Fault]:
        """One answer per case, in order; the first is asked alone, to find out the mode."""
        run = Run(max_cost=self.settings.max_cost, attempts=self._attempts())
        try:
            alone = 0
            while alone < len(cases) and not run.calls:
                yield self._one(cases[alone], run)
                alone += 1
            width = self.settings.concurrency
            yield from in_order(lambda case: self._one(case, run), cases[alone:], width)
        finally:
            run.stop.set()

    @property
    def digester(self) -> ModelDigester:
        """Words the notes of a consolidation, by the same model."""
        return ModelDigester(self.chat, self.exchanges, self._clock)

    def close(self) -> None:
        """Let go of the connections."""
        self.chat.close()

    def _attempts(self) -> Mapping[str, int]:
        """How often each entry was asked about in vain, where that is to count."""
        if self.exchanges is None or self.retry_stuck:
            return {}
        try:
            return self.exchanges.attempts()
        except LogError as error:
            log.warning("%s; what is stuck is asked about again", error)
            return {}

    def _one(self, case: Case, run: Run) -> Lesson | Fault:
        """The lesson of one entry; never raises for what a model or a server does."""
        attempts = run.attempts.get(case.entry.id, 0)
        if attempts >= STUCK_AFTER:
            message = (
                f"{attempts} answers of the model were of no use, so it is not asked any more; "
                "`tradmem resolve --retry-stuck` asks again"
            )
            return Fault(kind=FaultKind.STUCK, message=message)
        prompt = lesson_prompt(case.entry, case.related)
        messages: Sequence[Message] = prompt.messages
        usage, repaired = NO_USAGE, tuple[str, ...]()
        for last in (False, True):
            begun = run.begin(self.chat.estimate(messages))
            reply = begun or run.take(self._ask(messages, run))
            usage += reply.usage
            result = self._judge(case, prompt, reply)
            ends = last or isinstance(result, Lesson) or not _mendable(result)
            self._keep(case, messages, reply, result, ends=ends)
            if isinstance(result, Lesson):
                return replace(result, usage=usage, repaired=repaired)
            if ends:
                return replace(result, usage=usage)
            repaired = result.reasons or (result.kind.value,)
            answer = reply.text if isinstance(reply, Reply) else None
            messages = repair(prompt, answer, result.message.removeprefix(_REJECTED))
        raise AssertionError("the second turn always ends")

    def _ask(self, messages: Sequence[Message], run: Run) -> Reply | Fault:
        return self.chat.ask(messages, name="lesson", schema=SCHEMA, stop=run.stop)

    def _judge(self, case: Case, prompt: Prompt, reply: Reply | Fault) -> Lesson | Fault:
        """What an answer is worth: a lesson, or why not."""
        if isinstance(reply, Fault):
            return reply
        if reply.refusal or reply.finish == "content_filter":
            why = " ".join(reply.refusal.split())[:200] or "the answer was filtered"
            return Fault(kind=FaultKind.REFUSED, message=f"the model refused: {why}")
        if not (reply.text or "").strip():
            return Fault(kind=FaultKind.EMPTY, message="the answer is empty")
        draft = read_answer(reply.text or "", prompt.links)
        if draft is None:
            cut = ", it was cut off" if reply.finish == "length" else ""
            message = f'the answer is no JSON object with a "reflection"{cut}'
            return Fault(kind=FaultKind.UNREADABLE, message=message)
        return self._checked(case, prompt, draft)

    def _checked(self, case: Case, prompt: Prompt, draft: Draft) -> Lesson | Fault:
        entry = case.entry
        findings = check(
            draft.text,
            rating=entry.rating,
            verdict=entry.verdict,
            given=given(entry, *prompt.texts),
            ticker=entry.ticker,
            prompt=prompt.echo,
        )
        if findings:
            return Fault(
                kind=FaultKind.REJECTED,
                message=_REJECTED + "; ".join(finding.message for finding in findings),
                reasons=tuple(finding.reason.value for finding in findings),
            )
        text, cutoff = tidy(draft.text), self.settings.cutoff
        return Lesson(
            text=text,
            model=self.chat.model,
            sha256=lesson_hash(text, entry.ticker),
            links=draft.links,
            tags=tags_of(draft.tags, ticker=entry.ticker),
            hindsight=cutoff is None or cutoff > entry.date,
            data={"cutoff": cutoff.isoformat()} if cutoff else {},
            links_dropped=draft.links_dropped,
        )

    def _keep(
        self,
        case: Case,
        messages: Sequence[Message],
        reply: Reply | Fault,
        result: Lesson | Fault,
        *,
        ends: bool,
    ) -> None:
        """Put one exchange on record, with what became of it."""
        fault = result if isinstance(result, Fault) else None
        more: dict[str, Any] = {
            "lesson": fault is None,
            "attempt": bool(fault and ends and fault.kind.counts),
        }
        if fault:
            more |= {"fault": fault.kind, "message": fault.message, "reasons": fault.reasons}
        at, entry = self._clock(), case.entry.id
        keep(self.exchanges, self.chat, messages, reply, entry=entry, at=at, more=more)


def _mendable(fault: Fault) -> bool:
    return fault.kind in (FaultKind.EMPTY, FaultKind.UNREADABLE, FaultKind.REJECTED)
