"""What is kept of one exchange with a model."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tradmem.clock import format_instant
from tradmem.errors import LogError
from tradmem.lessons.chat import Chat, Message, Reply
from tradmem.lessons.exchanges import Exchanges
from tradmem.lessons.reflect import Fault

log = logging.getLogger("tradmem")


def keep(
    exchanges: Exchanges | None,
    chat: Chat,
    messages: Sequence[Message],
    reply: Reply | Fault,
    *,
    entry: str,
    at: datetime,
    more: Mapping[str, Any],
) -> None:
    """Put one exchange on record; what cannot be written costs nobody an answer.

    Args:
        exchanges: where to; None keeps nothing.
        chat: who was asked.
        messages: what it was asked.
        reply: what came back; a fault before any call is no exchange.
        entry: the id of the entry that it is about.
        at: the instant, aware UTC.
        more: what became of it.
    """
    if exchanges is None or (isinstance(reply, Fault) and not reply.usage.calls):
        return
    record: dict[str, Any] = {
        "at": format_instant(at),
        "entry": entry,
        "host": chat.host,
        "model": chat.model,
        "messages": list(messages),
        "calls": reply.usage.calls,
        "tokens": [reply.usage.prompt_tokens, reply.usage.completion_tokens],
        "cost": reply.usage.cost,
        **more,
    }
    if isinstance(reply, Reply):
        record |= {"mode": reply.mode, "answer": reply.text, "refusal": reply.refusal}
        record |= {"finish": reply.finish, "seconds": round(reply.seconds, 3)}
    try:
        exchanges.add(record, secrets=chat.secrets)
    except (OSError, LogError) as error:
        log.warning("cannot keep an exchange in %s: %s", exchanges.path, error)
