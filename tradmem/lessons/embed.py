"""Turning texts into vectors: offline by a small model, or by an OpenAI-compatible server.

An embedder gives one vector per text, of length 1, or None for a text that it could not
take. It raises :class:`~tradmem.errors.ModelError` when nothing more can be had of it now.
"""

import json
import os
import time
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from tradmem.errors import ModelError, UsageError
from tradmem.lessons.reflect import FaultKind
from tradmem.lessons.wire import problem
from tradmem.model_settings import NO_KEY, model_settings

_LONG = 200  # characters; a shorter text is refused for what is in it
Vector = npt.NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Anything that turns texts into vectors.

    Attributes:
        model: names the model and whatever else changes its vectors.
        longest: characters of a text that it is given.
        batch: texts that it is given at once.
        is_costly: whether its vectors are worth keeping between runs.
    """

    model: str
    longest: int
    batch: int
    is_costly: bool

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """One vector of length 1 per text; None for a text that it cannot take.

        Raises:
            ModelError: nothing can be had of it now.
        """
        ...


def unit(numbers: Any) -> Vector | None:
    """A vector of length 1; None where there is no direction in it."""
    try:
        vector = np.asarray(numbers, dtype=np.float32)
    except (TypeError, ValueError):
        return None
    length = float(np.linalg.norm(vector)) if vector.ndim == 1 else 0.0
    return vector / np.float32(length) if 0.0 < length < float("inf") else None


class WordLlamaEmbedder:
    """Static word vectors that come with the package ``wordllama``: no network, no key.

    Args:
        dimension: 64, 128 or 256.

    Raises:
        UsageError: the package is not there.
    """

    longest = 1_000
    batch = 256
    is_costly = False

    def __init__(self, dimension: int = 128) -> None:
        if find_spec("wordllama") is None:
            raise UsageError(
                "embeddings need the package wordllama; pip install 'tradmem[semantic]'"
            )
        self.dimension = dimension
        self.model = f"wordllama-l2-supercat-{dimension}"

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """See :class:`Embedder`."""
        return [unit(numbers) for numbers in self._loaded.embed(list(texts))] if texts else []

    @cached_property
    def _loaded(self) -> Any:
        import wordllama  # noqa: PLC0415 - half a second that only those who ask for it pay

        folder = Path(wordllama.__file__).parent
        return wordllama.WordLlama.load(
            cache_dir=folder, disable_download=True, trunc_dim=self.dimension
        )


class OpenAIEmbedder:
    """Vectors from the embeddings of an OpenAI-compatible server.

    What a batch cannot have, because one of its texts is refused or the answer is no good, is
    asked for text by text.

    Args:
        model: its name; by default ``TRADMEM_EMBEDDING_MODEL``.
        base_url: of the server; by default that of :mod:`tradmem.model_settings`.
        api_key: the same.
        dimensions: asked of the server, where its model can shorten vectors.
        batch: texts per request.
        timeout: seconds to wait for an answer.
        retries: further calls after a passing fault.

    Raises:
        UsageError: no model or no key is known.
    """

    longest = 4_000
    is_costly = True

    def __init__(
        self,
        *,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        batch: int = 64,
        timeout: float = 30.0,
        retries: int = 2,
    ) -> None:
        name = model or os.environ.get("TRADMEM_EMBEDDING_MODEL", "")
        if not name:
            raise UsageError("no embedding model is named; set TRADMEM_EMBEDDING_MODEL")
        settings = model_settings(base_url=base_url, api_key=api_key)
        if not settings.api_key:
            raise UsageError(f"no key for the embeddings is known; set {settings.key_name}")
        self._url, self.host = settings.base_url, settings.host
        self._key = "" if settings.api_key == NO_KEY else settings.api_key
        self._name, self._dimensions = name, dimensions
        self.model = f"{self.host}/{name}" + (f"/{dimensions}" if dimensions else "")
        self.batch, self._timeout, self._retries = batch, timeout, retries
        self._said = "its answers hold no vectors"

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """See :class:`Embedder`."""
        found: list[Vector | None] = []
        for start in range(0, len(texts), self.batch):
            part = list(texts[start : start + self.batch])
            vectors = self._ask(part) or [self._one(text) for text in part]
            if len(part) > 1 and not any(vector is not None for vector in vectors):
                raise ModelError(
                    FaultKind.BAD_REQUEST.value,
                    f"{self.host} takes none of {len(part)} texts: {self._said}",
                    fatal=True,
                )
            found += vectors
        return found

    def close(self) -> None:
        """Let go of the connections."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    def _one(self, text: str) -> Vector | None:
        """The vector of a text by itself; of its beginning where it is too long."""
        cuts = (len(text), len(text) // 2, len(text) // 4) if len(text) >= _LONG else (len(text),)
        for cut in cuts:
            found = self._ask([text[:cut]])
            if found:
                return found[0]
        return None

    def _ask(self, texts: list[str]) -> list[Vector | None] | None:
        """One request, repeated after passing faults; None if the server refuses these texts.

        Raises:
            ModelError: the server gives no answer, or refuses whatever it is asked.
        """
        for again in range(self._retries + 1):
            kind, detail, answer = self._call(texts)
            if kind is None:
                return _vectors(answer, len(texts))
            if kind.fatal or (kind.passing and again == self._retries):
                raise ModelError(kind.value, f"{self.host}: {detail}", fatal=kind.fatal)
            if not kind.passing:
                self._said = detail
                return None
            time.sleep(0.25 * 2.0**again)
        return None

    def _call(self, texts: list[str]) -> tuple[FaultKind | None, str, Any]:
        import openai  # noqa: PLC0415 - half a second that only those who ask for it pay

        options = {"dimensions": self._dimensions} if self._dimensions else {}
        try:
            raw = self._client.embeddings.with_raw_response.create(
                model=self._name, input=texts, encoding_format="float", extra_body=options
            )
            return None, "", json.loads(raw.http_response.text)
        except openai.APITimeoutError:
            return FaultKind.TIMED_OUT, f"no answer within {self._timeout:g} s", None
        except openai.APIStatusError as error:
            body = error.body if isinstance(error.body, dict) else {}
            said = self._without_key(str(body.get("message") or error.message))
            found = problem(error.status_code, f"{error.code} {error.type}", said)
            return found.kind, found.detail, None
        except openai.OpenAIError as error:
            return FaultKind.UNREACHABLE, self._without_key(str(error.__cause__ or error)), None
        except (ValueError, RecursionError):
            return FaultKind.SERVER_ERROR, "something else than JSON; is the base URL right?", None

    def _without_key(self, text: str) -> str:
        return " ".join((text.replace(self._key, "***") if self._key else text).split())[:200]

    @cached_property
    def _client(self) -> Any:
        import openai  # noqa: PLC0415

        return openai.OpenAI(
            api_key=self._key or NO_KEY,
            base_url=self._url,
            timeout=self._timeout,
            max_retries=0,
        )


def _vectors(answer: Any, wanted: int) -> list[Vector | None] | None:
    """The vectors of an answer in the order of the texts; None if they are not all there."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or len(data) != wanted:
        return None
    items = [item if isinstance(item, dict) else {} for item in data]
    if sorted(str(item.get("index")) for item in items) == sorted(map(str, range(wanted))):
        items.sort(key=lambda item: int(item["index"]))
    found = [unit(item.get("embedding") or ()) for item in items]
    return None if wanted > 1 and any(vector is None for vector in found) else found
