"""Lessons written by a language model and checked by code."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from tradmem.clock import Clock, format_instant, system_clock
from tradmem.lessons.chat import Chat, Message, Reply
from tradmem.lessons.checks import check, tidy
from tradmem.lessons.entities import tags_of
from tradmem.lessons.exchanges import STUCK_AFTER, Exchanges
from tradmem.lessons.figures import given
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

log = logging.getLogger("tradmem")


class OpenAIReflector:
    """Asks a model behind an OpenAI-compatible server for each lesson.

    One call per entry, and one more that names the faults where the answer fails
    the checks; what still fails is a fault, and the entry stays due. A key that is
    refused, a model that is not there, an account without credit, a spent budget
    and a server that stays silent end the asking; the rest is then ``not asked``.

    Args:
        model: its name; by default ``TRADMEM_MODEL`` or ``OPENAI_MODEL``.
        base_url: of the server; by default ``OPENAI_BASE_URL``, else OpenAI's.
        api_key: by default the provider's usual name, or ``OPENAI_API_KEY``.
        timeout: seconds to wait for an answer.
        retries: further calls after a passing fault.
        concurrency: entries asked about at once.
        cutoff: the last date of the model's training data, as its maker states it.
        prices: US dollars per million tokens sent and received.
        max_cost: US dollars; no call is begun that would probably exceed it.
        exchanges: where the raw exchanges and the attempts are kept.
        retry_stuck: whether to ask about entries too that were asked about in vain.
        options: further fields of the request, such as ``{"temperature": 0}``.
        clock: stamps the exchanges.

    Raises:
        UsageError: no model or no key is known.
    """

    related = RELATED

    def __init__(
        self,
        *,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: int = 2,
        concurrency: int = 4,
        cutoff: date | None = None,
        prices: tuple[float, float] | None = None,
        max_cost: float | None = None,
        exchanges: Exchanges | None = None,
        retry_stuck: bool = False,
        options: Mapping[str, Any] | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self.chat = Chat(
            model=model,
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            retries=retries,
            prices=prices,
            options=options,
        )
        self.concurrency, self.cutoff, self.max_cost = max(1, concurrency), cutoff, max_cost
        self.exchanges, self.retry_stuck, self._clock = exchanges, retry_stuck, clock

    def reflect(self, cases: Sequence[Case]) -> Iterator[Lesson | Fault]:
        """One answer per case, in order; the first is asked alone, to find out the mode."""
        attempts = self.exchanges.attempts() if self.exchanges and not self.retry_stuck else {}
        run = Run(max_cost=self.max_cost, attempts=attempts)
        try:
            alone = 0
            while alone < len(cases) and not run.calls:
                yield self._one(cases[alone], run)
                alone += 1
            yield from in_order(lambda case: self._one(case, run), cases[alone:], self.concurrency)
        finally:
            run.stop.set()

    def close(self) -> None:
        """Let go of the connections."""
        self.chat.close()

    def _one(self, case: Case, run: Run) -> Lesson | Fault:
        """The lesson of one entry; never raises for what a model or a server does."""
        attempts = run.attempts.get(case.entry.id, 0)
        if attempts >= STUCK_AFTER:
            message = f"{attempts} answers were of no use; ask for it by itself to try again"
            return Fault(kind=FaultKind.STUCK, message=message)
        prompt = lesson_prompt(case.entry, case.related)
        messages: Sequence[Message] = prompt.messages
        usage, repaired = NO_USAGE, tuple[str, ...]()
        for last in (False, True):
            reply = run.begin() or run.take(self._ask(messages, run))
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
            messages = repair(prompt, answer, [result.message])
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
                message="; ".join(finding.message for finding in findings),
                reasons=tuple(finding.reason.value for finding in findings),
            )
        text = tidy(draft.text)
        return Lesson(
            text=text,
            model=self.chat.model,
            sha256=lesson_hash(text, entry.ticker),
            links=draft.links,
            tags=tags_of(draft.tags, ticker=entry.ticker),
            hindsight=self.cutoff is None or self.cutoff > entry.date,
            data={"cutoff": self.cutoff.isoformat()} if self.cutoff else {},
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
        """Put one exchange on record; a record that cannot be written costs no lesson."""
        if self.exchanges is None or (isinstance(reply, Fault) and not reply.usage.calls):
            return
        fault = result if isinstance(result, Fault) else None
        record: dict[str, Any] = {
            "at": format_instant(self._clock()),
            "entry": case.entry.id,
            "host": self.chat.host,
            "model": self.chat.model,
            "messages": list(messages),
            "calls": reply.usage.calls,
            "tokens": [reply.usage.prompt_tokens, reply.usage.completion_tokens],
            "cost": reply.usage.cost,
            "lesson": fault is None,
            "attempt": bool(fault and ends and fault.kind.counts),
        }
        if isinstance(reply, Reply):
            record |= {"mode": reply.mode, "answer": reply.text, "refusal": reply.refusal}
            record |= {"finish": reply.finish, "seconds": round(reply.seconds, 3)}
        if fault:
            record |= {"fault": fault.kind, "message": fault.message, "reasons": fault.reasons}
        try:
            self.exchanges.add(record, secrets=self.chat.secrets)
        except OSError as error:
            log.warning("cannot keep an exchange in %s: %s", self.exchanges.path, error)


def _mendable(fault: Fault) -> bool:
    return fault.kind in (FaultKind.EMPTY, FaultKind.UNREADABLE, FaultKind.REJECTED)
