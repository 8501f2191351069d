"""A file of tickers."""

import pytest

from tradmem.errors import UsageError
from tradmem.running import read_watchlist


@pytest.mark.parametrize(
    "text",
    [
        "NVDA\nAMD\n",
        "nvda, amd",
        "# mine\n\n  NVDA   amd;NVDA # again\n",
        "\ufeffNVDA\r\nAMD\r\n",
    ],
)
def test_tickers_stand_in_any_layout(tmp_path, text):
    path = tmp_path / "list.txt"
    path.write_bytes(text.encode())
    assert read_watchlist(path) == ("NVDA", "AMD")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "names no ticker; write one a line"),
        (b"# none\n", "names no ticker"),
        (b"NVDA\nA|B\n", ":2: 'A|B' is no ticker"),
        (b"\xff\xfeN\x00", "it is no UTF-8 text"),
    ],
)
def test_what_is_no_watchlist_is_one_line(tmp_path, data, said):
    path = tmp_path / "list.txt"
    path.write_bytes(data)
    with pytest.raises(UsageError) as raised:
        read_watchlist(path)
    assert said in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_watchlist_that_is_not_there_or_a_folder_is_one_line(tmp_path):
    with pytest.raises(UsageError, match="no such file or directory"):
        read_watchlist(tmp_path / "gone.txt")
    with pytest.raises(UsageError, match="is a directory"):
        read_watchlist(tmp_path)
