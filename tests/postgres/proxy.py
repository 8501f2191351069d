"""A wire between a client and a server that can be cut at the worst moment."""

import socket
import threading
from contextlib import suppress


class Wire:
    """Listens on loopback and passes everything on to a server's socket.

    Attributes:
        swallow: while true, the next answer of the server is lost with its connection: the
            server did what it was asked to, and the client cannot know.
    """

    def __init__(self, target):
        self.target = target
        self.swallow = False
        self.cuts = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            kind = socket.AF_UNIX if isinstance(self.target, str) else socket.AF_INET
            server = socket.socket(kind)
            server.connect(self.target)
            for pair in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source, target, is_answer):
        with suppress(OSError):
            while data := source.recv(65536):
                if is_answer and self.swallow:
                    self.swallow = False
                    self.cuts += 1
                    break
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self):
        self._listening.close()
