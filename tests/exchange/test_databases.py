"""A log from a file into PostgreSQL and back."""

from tests.cli.world import SETTLED, World
from tradmem import MarkdownJournal


def test_a_log_that_went_through_a_database_is_the_same_to_the_byte(
    tmp_path, monkeypatch, postgres_log
):
    monkeypatch.chdir(tmp_path)
    world = World(tmp_path)
    names = []
    for number, ticker in enumerate(("NVDA", "AAPL")):
        world.now = world.now.replace(minute=10 + number)
        names.append(world.record(ticker))
    world.now = SETTLED
    assert world.resolve().exit_code == 0
    assert world.run("forget", names[0], "--reason", "a -- reason").exit_code == 0
    world.now = SETTLED.replace(hour=13)
    world.run("note", "Index changes\ncrowd the close.")
    world.now = SETTLED.replace(hour=14)
    world.run("record", "NVDA", "No view. <!-- ENTRY_END -->", "--agent", "bear")

    there = world.run("import", world.log, "--log", postgres_log, log=False)
    assert (there.exit_code, there.stdout.splitlines()[-1]) == (0, "4 taken"), there.output
    again = world.run("import", world.log, "--log", postgres_log, log=False)
    assert again.stdout == "4 unchanged\n"
    back = tmp_path / "back.md"
    assert world.run("import", postgres_log, "--log", back, log=False).exit_code == 0
    assert back.read_bytes() == world.log.read_bytes()
    assert MarkdownJournal(back).entries() == MarkdownJournal(world.log).entries()


def test_an_export_of_a_database_is_that_of_the_file(tmp_path, monkeypatch, postgres_log):
    monkeypatch.chdir(tmp_path)
    world = World(tmp_path)
    world.settle_week()
    world.run("import", world.log, "--log", postgres_log, log=False)
    for name in ("out.jsonl", "out.csv"):
        world.run("export", f"file-{name}")
        done = world.run("export", f"base-{name}", "--log", postgres_log, log=False)
        assert done.exit_code == 0, done.output
        assert (tmp_path / f"base-{name}").read_text() == (tmp_path / f"file-{name}").read_text()
