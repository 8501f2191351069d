"""A reader and writer that behaves as TradingAgents' decision log does, for tests only.

What is known of it, from its published behaviour: entries are split at an exact separator;
the first line is the tag; a decision is searched up to a REFLECTION: at a line's start, a
reflection anywhere; a pending entry is looked for by scanning every line; a rewrite joins
the stripped blocks again.
"""

import re
from pathlib import Path

SEPARATOR = "\n\n<!-- ENTRY_END -->\n\n"


class PeerLog:
    """One log, as the peer handles it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def store(self, ticker: str, day: str, text: str, rating: str = "Buy") -> None:
        old = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        for line in old.splitlines():
            if line.startswith(f"[{day} | {ticker} |") and line.endswith("| pending]"):
                return
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(f"[{day} | {ticker} | {rating} | pending]\n\nDECISION:\n{text}{SEPARATOR}")

    def load(self) -> list[dict]:
        text = self.path.read_text(encoding="utf-8")
        blocks = [block.strip() for block in text.split(SEPARATOR)]
        return [entry for block in blocks if block and (entry := self._read(block))]

    def _read(self, block: str) -> dict | None:
        lines = block.splitlines()
        tag = lines[0].strip()
        if not (tag.startswith("[") and tag.endswith("]")):
            return None
        fields = [field.strip() for field in tag[1:-1].split("|")]
        if len(fields) < 4:
            return None
        body = "\n".join(lines[1:])
        decision = re.search(r"DECISION:\n(.*?)(?=\nREFLECTION:|\Z)", body, re.DOTALL)
        reflection = re.search(r"REFLECTION:\n(.*)\Z", body, re.DOTALL)
        return {
            "date": fields[0],
            "ticker": fields[1],
            "rating": fields[2],
            "pending": fields[3] == "pending",
            "raw": None if fields[3] == "pending" else fields[3],
            "alpha": fields[4] if len(fields) > 4 else None,
            "decision": decision[1].strip() if decision else "",
            "reflection": reflection[1].strip() if reflection else "",
        }

    def resolve(
        self, ticker: str, day: str, raw: float, alpha: float, lesson: str, *, known: str = ""
    ) -> bool:
        """Rewrite the first pending block of a key; ``known`` is written since 0.4."""
        blocks = self.path.read_text(encoding="utf-8").split(SEPARATOR)
        out, done = [], False
        for block in blocks:
            lines = block.strip().splitlines()
            tag = lines[0].strip() if lines else ""
            if done or not (tag.startswith(f"[{day} | {ticker} |") and tag.endswith("| pending]")):
                out.append(block)
                continue
            rating = tag[1:-1].split("|")[2].strip()
            figures = f"{raw:+.1%} | {alpha:+.1%} | 5d" + (f" | resolved:{known}" if known else "")
            rest = "\n".join(lines[1:]).lstrip()
            out.append(
                f"[{day} | {ticker} | {rating} | {figures}]\n\n{rest}\n\nREFLECTION:\n{lesson}"
            )
            done = True
        self.path.write_text(SEPARATOR.join(out), encoding="utf-8", newline="")
        return done
