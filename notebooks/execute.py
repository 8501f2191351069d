"""Run the notebooks from top to bottom and keep their outputs, or check the ones that are kept.

``execute.py`` writes the outputs back; ``execute.py --check`` writes nothing and fails where a
text that comes out is not the one that is kept. Pictures are not compared: fonts differ.
"""

import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

HERE = Path(__file__).parent
LIMIT = 120  # seconds that a notebook may take


def run(path: Path) -> NotebookNode:
    """The notebook with fresh outputs, and nothing in it that differs from run to run."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=LIMIT,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(HERE)}},
    )
    client.execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {}
    return notebook


def texts(notebook: NotebookNode) -> list[tuple[str, str]]:
    """What each cell says, with its source, without pictures and pages."""
    return [
        (
            cell.source,
            "".join(
                part.get("text") or part.get("data", {}).get("text/plain", "")
                for part in cell.get("outputs", ())
                if "image/png" not in part.get("data", {})
            ),
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def main() -> int:
    """Run all; the exit status is 1 where a kept text is another."""
    is_check = "--check" in sys.argv[1:]
    beside = str(Path(sys.executable).parent)  # where the command `tradmem` is
    os.environ["PATH"] = os.pathsep.join((beside, os.environ["PATH"]))
    status = 0
    for path in sorted(HERE.glob("*.ipynb")):
        started = time.perf_counter()
        fresh = run(path)
        sys.stdout.write(f"{path.name}  {time.perf_counter() - started:.0f} s\n")
        if not is_check:
            nbformat.write(fresh, path)
            continue
        kept = texts(nbformat.read(path, as_version=4))
        for (source, new), (_, old) in zip(texts(fresh), kept, strict=True):
            if new != old:
                status = 1
                sys.stdout.write(f"{source}\n  kept:\n{old}\n  now:\n{new}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
