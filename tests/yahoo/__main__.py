"""Run the local Yahoo by hand: ``python -m tests.yahoo --port 8480 --fault AAPL=429:2``."""

import argparse
import shlex
import signal
import sys
import threading
from datetime import datetime

from tests.yahoo import Fault, YahooServer

USAGE = """\
Yahoo is at {url}; stop it with Ctrl-C. In another shell:

{exports}

Then `tradmem run` and every other program on yfinance asks this server. Orders:

  curl --noproxy '*' {url}/_control -d '{{"symbol": "AAPL", "fault": "429", "times": 2}}'
  curl --noproxy '*' {url}/_control -d '{{"symbol": "AAPL", "split": 4, "date": "2026-11-10"}}'
  curl --noproxy '*' {url}/_control -d '{{"now": "2026-11-10T15:30:00Z"}}'
  curl --noproxy '*' {url}/_control -d '{{"mend": "*"}}'      {{"reset": true}} forgets everything

faults: {faults}
"""


def main() -> int:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(prog="python -m tests.yahoo", description=__doc__)
    parser.add_argument("--port", type=int, default=8480, help="0 takes a free one")
    parser.add_argument("--now", type=datetime.fromisoformat, help="an instant, with its zone")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="SYMBOL=FAULT[:TIMES]",
        help=f"* is any symbol; faults: {', '.join(Fault)}",
    )
    options = parser.parse_args()
    if options.now and options.now.utcoffset() is None:
        parser.error("--now needs a zone, such as 2026-11-10T15:30:00Z")
    try:
        server = YahooServer(port=options.port, now=options.now)
    except OSError as error:
        parser.error(f"cannot listen on port {options.port}: {error.strerror}; choose another")
    for text in options.fault:
        symbol, _, rest = text.rpartition("=")
        fault, _, times = rest.partition(":")
        try:
            server.fault(symbol, fault, times=int(times) if times else None)
        except ValueError as error:
            parser.error(f"--fault {text}: {error}")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with server:
        exports = "\n".join(
            f"  export {k}={shlex.quote(v)}" for k, v in sorted(server.environment().items())
        )
        sys.stdout.write(USAGE.format(url=server.url, exports=exports, faults=", ".join(Fault)))
        sys.stdout.flush()
        stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
