"""Calls of models that a graph makes through LangChain, counted with all others."""

from typing import Any

from tradmem.lessons.meter import current_meter


def calls_counted() -> Any:
    """A callback for LangChain that counts on the meter of the place where it is made.

    LangChain tells tokens, and never what they cost: such calls count as of unknown cost.
    """
    from langchain_core.callbacks import BaseCallbackHandler  # noqa: PLC0415 - comes with langgraph
    from langchain_core.outputs import LLMResult  # noqa: PLC0415

    meter = current_meter()

    class Counting(BaseCallbackHandler):
        """Counts what begins and what is answered."""

        def on_chat_model_start(self, *_: Any, **__: Any) -> None:
            """A chat model is asked."""
            if meter:
                meter.begin()

        def on_llm_start(self, *_: Any, **__: Any) -> None:
            """Another kind of model is asked."""
            if meter:
                meter.begin()

        def on_llm_end(self, response: LLMResult, **_: Any) -> None:
            """It answered."""
            for generations in response.generations[:1]:
                message = getattr(generations[0], "message", None) if generations else None
                used = getattr(message, "usage_metadata", None) or {}
                if meter:
                    meter.answered(
                        _count(used, "input_tokens"), _count(used, "output_tokens"), None
                    )

    return Counting()


def _count(used: Any, name: str) -> int:
    value = used.get(name)
    return value if isinstance(value, int) else 0
