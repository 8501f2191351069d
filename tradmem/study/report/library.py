"""The script that draws the charts of a page: made once, then kept in the user's cache."""

import hashlib
import re
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from uuid import uuid4

from tradmem.errors import UsageError
from tradmem.settings import default_scripts
from tradmem.study.report.charts import EXTRA

_PACKAGE = "vl-convert-python"


@cache
def library() -> str:
    """Vega, Vega-Lite and their embedding, as one script.

    Putting it together takes longer than all the rest of a report, and gives the same for the
    same version of the package.

    Raises:
        UsageError: the extra is not installed.
    """
    try:
        import vl_convert  # noqa: PLC0415 - an extra

        kept = default_scripts() / f"vega-{version(_PACKAGE)}.js"
    except (ImportError, PackageNotFoundError) as error:
        raise UsageError(EXTRA) from error
    bundle = _read(kept)
    if bundle is None:
        bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub asks for more
        _keep(kept, bundle)
    assert not re.search("</script|<!--", bundle, re.IGNORECASE)
    return bundle


def _read(path: Path) -> str | None:
    """What is kept, if it is whole: the digest of the rest leads it."""
    try:
        digest, _, script = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return script.decode() if digest == _digest(script) else None


def _keep(path: Path, script: str) -> None:
    """Keep a script for the next report; where that cannot be, it is made again."""
    beside = path.with_name(f".{path.name}.{uuid4().hex}")
    data = script.encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(_digest(data) + b"\n" + data)
        beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink()


def _digest(script: bytes) -> bytes:
    return b"// " + hashlib.sha256(script).hexdigest().encode()
