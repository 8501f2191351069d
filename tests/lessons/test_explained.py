"""The plain rule accounts for what it shows, and for what it nearly showed."""

from tests.governance_world import WHY, Life
from tradmem import RamJournal, Settings


def reasons(memory, **how):
    seen = memory.recall("NVDA", explain=True, **how)
    assert [item.entry.id for item in seen.explained if item.is_shown] == list(seen.ids)
    return {item.entry.id: item.reason for item in seen.explained if not item.is_shown}


def test_each_near_miss_is_named_with_why_it_is_not_shown():
    life = Life(RamJournal(), settings=Settings(same_ticker=2, cross_ticker=1))
    names = [life.learn(n, f"Reason {word} held.") for n, word in enumerate("abcde")]
    older = life.learn(6, "Orders held.", ticker="AMD")
    newer = life.learn(7, "Costs held.", ticker="AMD")
    other = life.learn(5, "Cash held.", ticker="JPM")
    bare = life.learn(8, "", ticker="WMT")
    life.day(30)
    life.memory.forget(names[4], **WHY)
    life.memory.expire(names[3], "2026-01-20", **WHY)
    life.memory.supersede(names[2], newer, **WHY)
    life.learn(40, "Reason z held.")
    life.day(60)
    assert newer in life.seen()
    assert reasons(life.memory) == {
        names[4]: "forgotten",
        names[3]: "expired",
        names[2]: f"superseded by {newer}",
        bare: "no lesson yet, and of another ticker",
        older: "another memory of its ticker is newer",
        other: "other tickers have something newer",
        names[0]: "2 of NVDA are newer",
    }


def test_explaining_changes_nothing_and_looks_no_further_ahead():
    life = Life(RamJournal())
    names = [life.learn(n, f"Reason {word} held.") for n, word in enumerate("abcdefgh")]
    life.day(30)
    then = life.day(10)
    life.day(30)
    plain = life.memory.recall("NVDA", then)
    told = life.memory.recall("NVDA", then, explain=True)
    assert (told.text, told.ids, told.left_out) == (plain.text, plain.ids, plain.left_out)
    assert {item.entry.id for item in told.explained} <= set(names[:4])
    assert all(item.entry.known_at <= then for item in told.explained)
