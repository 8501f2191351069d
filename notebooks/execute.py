"""Run the notebooks from a clean folder, and keep what they print beside their code.

    python notebooks/execute.py            run all, and write what they printed into them
    python notebooks/execute.py --check    run all, and say where they print something else
    python notebooks/execute.py 02         only those whose name begins so

Pictures are not compared: another machine's fonts draw them otherwise.
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

HERE = Path(__file__).parent
TIMEOUT = 600  # seconds for one cell


def run(path: Path) -> Any:
    """The notebook with what its cells print now; nothing that they write stays."""
    book = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(HERE / "data", Path(name) / "data")
        (Path(name) / ".git").mkdir()  # no settings file above counts
        client = NotebookClient(
            book,
            timeout=TIMEOUT,
            kernel_name="python3",
            record_timing=False,
            extra_arguments=["--log-level=ERROR"],
            resources={"metadata": {"path": name}},
        )
        client.execute(env=environment())
    return cleaned(book)


def environment() -> dict[str, str]:
    """What the kernel sees: none of a user's settings, and this environment's commands."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TRADMEM_", "OPENAI_")) and name != "MPLBACKEND"
    }
    commands = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    paths = os.pathsep.join(filter(None, (str(HERE.parent), kept.get("PYTHONPATH", ""))))
    return kept | {"PATH": commands, "PYTHONPATH": paths, "NO_COLOR": "1", "COLUMNS": "100"}


def cleaned(book: Any) -> Any:
    """Without what differs from one run, or one machine, to the next."""
    book.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in book.cells:
        cell.metadata = {}
        joined: list[Any] = []
        for output in cell.get("outputs", ()):
            output.get("metadata", {}).clear()
            before = joined[-1] if joined else {}
            if output.output_type == "stream" and before.get("name") == output.name:
                before["text"] += output.text
            else:
                joined.append(output)
        if cell.cell_type == "code":
            cell.outputs = joined
    return book


def texts(book: Any) -> list[str]:
    """What each cell prints, pictures apart."""
    return ["\n".join(map(_text, cell.get("outputs", ()))) for cell in book.cells]


def _text(output: Any) -> str:
    data = output.get("data", {})
    plain = "" if "image/png" in data else data.get("text/plain", "")
    return str(output.get("text", "")) + str(data.get("text/markdown") or plain)


def main(arguments: list[str]) -> int:
    """Run what was asked for; 1 if something prints otherwise than it is kept."""
    is_check = "--check" in arguments
    wanted = tuple(word for word in arguments if not word.startswith("-")) or ("",)
    differing = 0
    for path in sorted(HERE.glob("*.ipynb")):
        if not path.name.startswith(wanted):
            continue
        start = time.perf_counter()
        try:
            book = run(path)
        except CellExecutionError as error:
            print(f"{path.name}: a cell failed\n{error}")
            return 1
        print(f"{path.name}: {time.perf_counter() - start:.0f} s", flush=True)
        if not is_check:
            nbformat.write(book, path)
            continue
        kept = texts(cleaned(nbformat.read(path, as_version=4)))
        for number, (before, now) in enumerate(zip(kept, texts(book), strict=True)):
            if before != now:
                differing += 1
                print(f"{path.name}, cell {number}: kept\n{before}\nbut now\n{now}")
    return min(differing, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
