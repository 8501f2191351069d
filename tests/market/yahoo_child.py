"""Carries out a plan of fetches with the real client, in a process of its own.

The plan is JSON on standard input, a list of steps: ``{"name", "fetch": {ticker: [start, end]},
"options": {…}}`` fetches, ``{"order": {…}}`` gives the server an order, ``{"environment": {…}}``
changes this process's. What every fetch brought goes to standard output.
"""

import json
import os
import sys
from datetime import date
from time import monotonic
from urllib.request import urlopen

from tradmem.errors import PriceError
from tradmem.market.prices import Bars, Span
from tradmem.market.yahoo import YahooPrices


def told(answer: Bars | PriceError) -> dict:
    if isinstance(answer, PriceError):
        return {"fault": answer.kind, "detail": answer.detail, "symbol": answer.symbol}
    return {
        "symbol": answer.symbol,
        "closes": {str(d): c for d, c in zip(answer.dates, answer.closes, strict=True)},
        "raw": {str(d): c for d, c in zip(answer.dates, answer.raw_closes, strict=True)},
        "splits": {str(day): ratio for day, ratio in answer.splits.items()},
        "dividends": {str(day): amount for day, amount in answer.dividends.items()},
        "currency": answer.currency,
        "basis": answer.basis,
        "source": answer.source,
    }


def main(server: str) -> dict:
    found = {}
    for step in json.load(sys.stdin):
        if "order" in step:
            with urlopen(f"{server}/_control", json.dumps(step["order"]).encode()) as answer:
                answer.read()
        elif "environment" in step:
            os.environ.update(step["environment"])
        else:
            spans = {t: Span(*map(date.fromisoformat, s)) for t, s in step["fetch"].items()}
            started = monotonic()
            answers = YahooPrices(**step.get("options", {})).fetch(spans)
            found[step["name"]] = {
                "seconds": monotonic() - started,
                "answers": {ticker: told(answer) for ticker, answer in answers.items()},
            }
    return found


if __name__ == "__main__":
    json.dump(main(sys.argv[1]), sys.stdout)
