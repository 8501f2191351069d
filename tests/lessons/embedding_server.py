"""A server of embeddings on loopback that can misbehave."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def vector_of(text, size=8):
    """A vector of a text that the tests can compute too."""
    return [float(1 + sum(map(ord, text)) % (7 + number)) for number in range(size)]


class EmbeddingServer:
    """The server, and the batches that it was asked for.

    Args:
        plays: what to do with each request in turn, then ``ok``.
        refuse: texts that it does not take.
        longest: characters of a text that it takes.
    """

    def __init__(self, plays=(), *, refuse=(), longest=10_000, size=8):
        self.plays, self.refuse, self.longest, self.size = iter(plays), set(refuse), longest, size
        self.batches, self.bodies, self.keys = [], [], []
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self):
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    owner: EmbeddingServer
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def log_message(self, *args):
        pass

    def do_POST(self):
        owner = self.owner
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = body["input"]
        owner.batches.append(texts)
        owner.bodies.append(body)
        owner.keys.append(self.headers.get("authorization"))
        play = next(owner.plays, "ok")
        if play in ("401", "429", "500", "400"):
            said = f"no, {self.headers.get('authorization')}"
            return self._send(int(play), {"error": {"message": said, "type": "x", "code": play}})
        if play == "web page":
            return self._send(200, "<html>")
        if any(text in owner.refuse or len(text) > owner.longest for text in texts):
            return self._send(400, {"error": {"message": "input is not taken", "code": "bad"}})
        data = [
            {"index": number, "embedding": vector_of(text, owner.size)}
            for number, text in enumerate(texts)
        ]
        if play == "one missing":
            data = data[:-1]
        if play == "shuffled":
            data = data[::-1]
        if play == "empty":
            data = [item | {"embedding": []} for item in data]
        return self._send(200, {"object": "list", "data": data})

    def _send(self, status, payload):
        raw = (payload if isinstance(payload, str) else json.dumps(payload)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
