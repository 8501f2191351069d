"""A model server on loopback that speaks OpenAI's chat completions and can misbehave in every way.

In a test::

    with ModelServer(["429", "ok"]) as server:
        OpenAIReflector(model="m", base_url=server.url, api_key="...")

By hand, with faults one after another, or at random with a seed::

    python -m tests.model_server --port 8091 --play 500 --play ok
    python -m tests.model_server --port 8091 --random 7
"""

import argparse
import contextlib
import json
import random
import re
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "little-model"
PASSING = ("drop", "429", "500", "503", "408", "slow", "web-page", "error-in-200", "cut-body")
USELESS = (
    "empty", "null", "no-choices", "refusal", "filtered", "truncated", "no-json", "ten-paragraphs",
    "bullets", "one-sentence", "wrong-verdict", "wrong-figure", "echo", "too-long", "schema-back",
)  # fmt: skip
GOOD = (
    "ok", "parts", "fenced", "in-prose", "reasoning", "only-closing-tag", "invented-link",
    "another-language", "line-breaks", "sentences-in-list",
)  # fmt: skip
USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
FATAL = ("401", "404", "402", "no-credit", "unknown-model")

# What each play that is an error of the server sends: status, message, code, headers.
_ERRORS = {
    "400": (400, "Bad request.", None, {}),
    "401": (401, "Incorrect API key provided: KEY.", "invalid_api_key", {}),
    "402": (402, "Payment required.", None, {}),
    "403": (403, "Not allowed in your country.", None, {}),
    "404": (404, "Not found.", None, {}),
    "408": (408, "Took too long.", None, {}),
    "429": (429, "Slow down.", "rate_limit_exceeded", {"retry-after-ms": "20"}),
    "429-second": (429, "Slow down.", "rate_limit_exceeded", {"retry-after": "1"}),
    "429-hour": (429, "Slow down.", "rate_limit_exceeded", {"retry-after": "3600"}),
    "500": (500, "Something broke.", None, {}),
    "503": (503, "Overloaded.", None, {"retry-after": "0"}),
    "flagged": (403, "Your input was flagged by moderation.", None, {}),
    "no-credit": (429, "You exceeded your current quota.", "insufficient_quota", {}),
    "too-long-prompt": (400, "This model's maximum context length is 4096 tokens.", None, {}),
    "unknown-model": (400, "no-such-model is not a valid model ID", None, {}),
}


@dataclass
class Seen:
    """One request: what it was about, how it asked for JSON, and what was played."""

    about: str
    mode: str
    play: str
    turn: int
    body: dict
    headers: dict


@dataclass
class ModelServer:
    """The server, and what it saw.

    Attributes:
        plays: what to play, one per request, then ``ok``; or a function from
            what the request is about to a play. A JSON object is answered as it stands.
        takes: the ways of asking for JSON that it takes.
        slowness: seconds that ``slow`` waits.
        port: 0 for any that is free.
        busiest: the most requests that were answered at once.
    """

    plays: Iterable[str] | Callable[[str], str] = ()
    takes: tuple[str, ...] = ("schema", "json", "text")
    slowness: float = 1.0
    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    busiest: int = 0
    busy: int = 0

    def __post_init__(self):
        self._lock = threading.Lock()
        if not callable(self.plays):
            queue = iter(list(self.plays))
            self._next = lambda about: next(queue, "ok")
        else:
            self._next = self.plays
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self._http.daemon_threads = True
        self.port = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self):
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *args):
        self._http.shutdown()
        self._http.server_close()

    @property
    def modes(self):
        """How each request asked for JSON."""
        return [seen.mode for seen in self.seen]

    def good_calls(self):
        """How many sound answers were given, by what they were about."""
        return Counter(seen.about for seen in self.seen if seen.play in GOOD)

    def note(self, body, headers):
        """Take note of a request, and say what to play."""
        asked = body.get("response_format", {}).get("type", "text")
        mode = {"json_schema": "schema", "json_object": "json"}.get(asked, "text")
        about = _about(body)
        turn = sum(message["role"] == "user" for message in body["messages"])
        with self._lock:
            play = self._next(about) if mode in self.takes else "format-unknown"
            self.seen.append(Seen(about, mode, play, turn, body, headers))
        return play

    @contextlib.contextmanager
    def counted(self):
        """Count the requests in hand."""
        with self._lock:
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
        try:
            yield
        finally:
            with self._lock:
                self.busy -= 1


def chaos(seed, *, fatal=3, share=0.5):
    """A function that plays every fault at random; those that end a run only a few times."""
    rng = random.Random(seed)
    left = [FATAL[n % len(FATAL)] for n in range(fatal)]
    faults = [play for play in PASSING if play != "slow"] + list(USELESS)

    def play(about):
        if left and rng.random() < 0.01:
            return left.pop()
        if rng.random() < 0.01:
            return "slow"
        return rng.choice(faults) if rng.random() < share else rng.choice(GOOD)

    return play


def _user(body):
    return next(m["content"] for m in body["messages"] if m["role"] == "user")


def _fact(body, name):
    found = re.search(rf"^{name}[^:]*: (.+)$", _user(body), re.MULTILINE)
    return found[1] if found else ""


def _about(body):
    return f"{_fact(body, 'Ticker')} {_fact(body, 'Decided')}"


def sound_lesson(body, language="en"):
    """Two sentences that fit the facts in the request."""
    ticker, rating = _fact(body, "Ticker"), _fact(body, "Rating")
    verdict = _fact(body, "Verdict").split(",")[0]
    figure = (_fact(body, "Alpha") or _fact(body, "Return") or "nothing").split()[0]
    if language == "de":
        said = {"right": "richtig", "wrong": "falsch", "neutral": "weder richtig noch falsch"}
        called = f"Die Entscheidung zu {ticker} war {said.get(verdict, 'ohne Urteil')}"
        return f"{called}: {figure.replace('.', ',')}. Beim n\u00e4chsten Mal erneut abw\u00e4gen."
    said = {"neutral": "neither right nor wrong", "none": "not rated"}.get(verdict, verdict)
    called = f"The decision on {ticker}" if rating == "none" else f"The {rating} on {ticker}"
    return f"{called} was {said}, at {figure}. Next time, weigh the case of {ticker} anew."


def _message(play, body):  # noqa: PLR0911, PLR0912
    """The message that a play answers with, and why it finished."""
    if play == "ready":
        return {"content": '{"word": "ready"}'}, "stop"
    if play.startswith("{"):
        return {"content": play}, "stop"
    text = sound_lesson(body)
    answer = {"reflection": text, "links": [1], "tags": ["Earnings Beat", "momentum"]}
    opposite = "wrong" if "right" in _fact(body, "Verdict").split(",")[0] else "right"
    changed = {
        "ten-paragraphs": "\n\n".join(f"Paragraph {n} speaks of the market." for n in range(10)),
        "bullets": f"- {text}\n- And once more.",
        "one-sentence": text.split(". ")[0],
        "wrong-verdict": f"The call was {opposite}. Next time, do it again.",
        "wrong-figure": f"{text} It could have made +77.7%.",
        "echo": _user(body).partition("<<<\n")[2].partition("\n>>>")[0],
        "too-long": text + " And so on" * 80 + ".",
    }
    if play in changed:
        return {"content": json.dumps(answer | {"reflection": changed[play]})}, "stop"
    match play:
        case "empty":
            return {"content": ""}, "stop"
        case "null":
            return {"content": None}, "stop"
        case "refusal":
            return {"content": None, "refusal": "I cannot help with trading."}, "stop"
        case "filtered":
            return {"content": "The"}, "content_filter"
        case "truncated":
            return {"content": json.dumps(answer)[:60]}, "length"
        case "no-json":
            return {"content": text}, "stop"
        case "schema-back":
            return {"content": json.dumps({"reflection": {"type": "string"}})}, "stop"
        case "parts":
            whole = json.dumps(answer)
            return {
                "content": [{"type": "text", "text": t} for t in (whole[:9], whole[9:])]
            }, "stop"
        case "fenced":
            return {"content": f"```json\n{json.dumps(answer)}\n```"}, "stop"
        case "in-prose":
            return {"content": f"Gladly {{sure}}: {json.dumps(answer)} Anything else?"}, "stop"
        case "reasoning":
            drawn = '<think>Maybe {"reflection": "x"}?</think>'
            return {"content": drawn + json.dumps(answer)}, "stop"
        case "only-closing-tag":
            return {"content": 'So {"reflection": "x"}.</think>' + json.dumps(answer)}, "stop"
        case "invented-link":
            answer["links"] = [1, 99, "memory 98", True, None]
        case "another-language":
            answer["reflection"] = sound_lesson(body, "de")
        case "line-breaks":
            raw = json.dumps(answer).replace(". Next", ".\nNext")
            return {"content": raw}, "stop"
        case "sentences-in-list":
            answer["reflection"] = [part.rstrip(".") + "." for part in text.split(". ")]
    return {"content": json.dumps(answer)}, "stop"


class _Handler(BaseHTTPRequestHandler):
    owner: ModelServer
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one packet, or each answer waits 40 ms for an ACK

    def log_message(self, *args):
        pass

    def do_GET(self):
        self._send(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self):
        with self.owner.counted():
            self._answer()

    def _answer(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        play = self.owner.note(body, headers)
        if play == "drop":
            self.close_connection = True
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
        elif play == "format-unknown":
            self._error(400, "response_format of this type is unavailable", None, {})
        elif play in _ERRORS:
            status, text, code, extra = _ERRORS[play]
            text = text.replace("KEY", headers.get("authorization", "").removeprefix("Bearer "))
            self._error(status, text, code, extra)
        elif play == "web-page":
            self._send(200, "<html>Welcome to the portal</html>", kind="text/html")
        elif play == "error-in-200":
            self._send(200, {"error": {"code": 502, "message": "upstream broke"}})
        elif play == "no-choices":
            self._send(200, {"id": "x", "object": "chat.completion", "choices": None})
        else:
            if play == "slow":
                time.sleep(self.owner.slowness)
            self._complete(play, body)

    def _complete(self, play, body):
        message, finish = _message(play, body)
        payload = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1767225600,
            "model": MODEL,
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "refusal": None} | message,
                }
            ],
            "usage": USAGE,
        }
        if play == "cut-body":
            self._send(200, json.dumps(payload)[:80])
        else:
            self._send(200, payload)

    def _error(self, status, text, code, headers):
        error = {"message": text, "type": "error", "param": None, "code": code}
        self._send(status, {"error": error}, headers=headers)

    def _send(self, status, payload, *, kind="application/json", headers=None):
        data = (payload if isinstance(payload, str) else json.dumps(payload)).encode()
        with contextlib.suppress(OSError):  # the client may have gone
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)


def main():
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8091)
    parser.add_argument("--play", action="append", default=[], help="in order, then ok")
    parser.add_argument("--random", type=int, metavar="SEED", help="every fault at random")
    parser.add_argument("--takes", default="schema,json,text", help="ways of asking for JSON")
    options = parser.parse_args()
    plays = options.play if options.random is None else chaos(options.random)
    takes = tuple(options.takes.split(","))
    with ModelServer(plays, takes=takes, port=options.port) as server:
        sys.stdout.write(f"OPENAI_BASE_URL={server.url} OPENAI_MODEL={MODEL}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
