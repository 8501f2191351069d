"""The memory: record, resolve, recall, note, forget.

Composition only. What an entry is, is in ``model``; where it lives, in ``journal``; what
happened afterwards, in ``market``; what it teaches, in ``lessons``.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date as Date  # noqa: N812 - `date` is the name of a parameter here
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from tradmem import governance
from tradmem.arguments import check_choice, check_count, check_list, check_seconds, check_text
from tradmem.audit import Finding, audit
from tradmem.clock import (
    AsOf,
    Clock,
    as_instant,
    format_instant,
    parse_date,
    system_clock,
    utc,
)
from tradmem.configuration import load
from tradmem.errors import UnknownEntry, UsageError
from tradmem.filters import entry_test
from tradmem.governance import Consolidation, Mandate, until
from tradmem.history import Event, history, history_at
from tradmem.instants import Instants
from tradmem.journal.base import Journal, OnConflict
from tradmem.journal.finding import PrefixJournal, Sought
from tradmem.journal.queue import claimed
from tradmem.journal.text import clean
from tradmem.lessons.consolidate import LEAST
from tradmem.lessons.filing import COMPARED
from tradmem.lessons.holdout import Holdout
from tradmem.lessons.parts import Rank
from tradmem.lessons.recall import Recall, recall
from tradmem.lessons.reflect import Reflector
from tradmem.lessons.track import TrackRecord, track
from tradmem.lessons.utility import FALSE_DISCOVERY, LessonUtility, lesson_utility
from tradmem.model import (
    Act,
    Decision,
    Entry,
    Rating,
    Status,
    entry_id,
    note_id,
)
from tradmem.opening import open_journal
from tradmem.recording import (
    Recorded,
    check_agent,
    check_extra,
    check_words,
    extra_of,
    holdout_of,
    ids_of,
    lots_of,
    rating_of,
    recall_instant,
    warnings_of,
)
from tradmem.resolving import Progress, ResolveReport, Run, filer_of
from tradmem.rows import COLUMNS, as_row
from tradmem.searching import Finder, find
from tradmem.settings import Settings, check_horizon
from tradmem.sources import Named, settings_with
from tradmem.tickers import MARKET, check_ticker
from tradmem.working import BATCH, LEASE, work

if TYPE_CHECKING:
    import pandas as pd

    from tradmem.lessons.embed import Embedder
    from tradmem.market.prices import PriceSource

_SHORTEST_PREFIX = 4


_around: ContextVar["Memory | None"] = ContextVar("around", default=None)


class Memory:
    """What an agent remembers of its decisions.

    Args:
        journal: where entries live.
        prices: where closes come from; Yahoo by default, asked only when something is due.
        reflector: who writes the lessons; the template by default.
        settings: everything else.
        clock: what time it is, aware UTC; a replay hands in its own.
        embedder: makes vectors of texts for a recall by relevance; by default what the
            settings name, and only when one is asked for.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        prices: "PriceSource | None" = None,
        reflector: Reflector | None = None,
        settings: Settings | None = None,
        clock: Clock = system_clock,
        embedder: "Embedder | None" = None,
    ) -> None:
        if prices is not None and not callable(getattr(prices, "fetch", None)):
            raise UsageError(
                f"{type(prices).__name__} is no price source; hand in FramePrices(...), "
                "FilePrices(...) or an object with a method fetch"
            )
        self.journal = journal
        self.settings = settings or Settings()
        self.clock = clock
        self._prices = prices
        self._reflector = reflector
        self._named = Named()
        self._instants = Instants(now=self._now, aliases=self.settings.aliases)
        self.finder = Finder(journal, self.settings, embedder)

    @classmethod
    def open(
        cls,
        log: str | os.PathLike[str] | None = None,
        *,
        prices: "PriceSource | None" = None,
        reflector: Reflector | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
    ) -> "Memory":
        """The memory in a log, which the first write makes.

        Args:
            log: a path, or ``postgresql://host/database``; by default what ``TRADMEM_LOG``
                or the settings file says, else ``logs/memory.md``.
            prices: see :class:`Memory`; by default what the settings file or the environment
                says, else Yahoo.
            reflector: see :class:`Memory`; by default what they say, else the template.
            settings: by default those of the settings file and the environment, see
                :func:`tradmem.configuration.load`.
            clock: see :class:`Memory`.
        """
        around = _around.get()
        if around and log is None:
            found = cls(
                around.journal,
                prices=prices or around._prices,  # noqa: SLF001 - another of this class
                reflector=reflector or around._reflector,  # noqa: SLF001 - so here
                settings=settings or around.settings,
                clock=clock or around.clock,
            )
            found._named = around._named  # noqa: SLF001 - so here
            return found
        if log and settings is not None and prices is not None and reflector is not None:
            named = Named()
        else:
            said = load()
            log = log or said.log
            named = Named(said.value("prices"), said.value("reflector"), os.fspath(log))
            settings = settings or settings_with(
                "" if prices is not None else named.prices, said.settings
            )
        found = cls(
            open_journal(log, settings),
            prices=prices,
            reflector=reflector,
            settings=settings,
            clock=clock or system_clock,
        )
        found._named = named
        return found

    @contextmanager
    def handed_out(self) -> Iterator[None]:
        """Within, :meth:`open` without a log gives this memory's parts.

        So whoever runs a graph that opens its own memory decides on which log it works,
        with which prices and by which clock.
        """
        before = _around.set(self)
        try:
            yield
        finally:
            _around.reset(before)

    def __repr__(self) -> str:
        return f"Memory({self.journal!r})"

    @property
    def prices(self) -> "PriceSource":
        """Where closes come from."""
        if self._prices is None:
            self._prices = self._named.open_prices(self.settings, self.clock)
        return self._prices

    @property
    def reflector(self) -> Reflector:
        """Who writes the lessons."""
        if self._reflector is None:
            self._reflector = self._named.open_reflector(self.clock)
        return self._reflector

    @reflector.setter
    def reflector(self, reflector: Reflector) -> None:
        self._reflector = reflector

    # Deciding

    def recall(
        self,
        ticker: str,
        as_of: AsOf = None,
        *,
        rank: Rank | str | None = None,
        query: str | None = None,
        agent: str = "",
        explain: bool = False,
    ) -> Recall:
        """What to put into the prompt of the next decision on a ticker.

        Args:
            ticker: in any case.
            as_of: an instant; or the date of the decision, which means the instant that
                :meth:`record` would give it; now by default. Never past the clock.
            rank: ``plain`` (the newest) or ``relevant`` (what has the most to do with the
                query); what the settings say by default.
            query: what the decision is about, such as the day's brief; the plain rule takes
                no notice of it.
            agent: who is to decide; it matters only where the settings have a hold-out, whose
                lots differ by agent.
            explain: whether to account for every memory that was looked at, in
                ``explained``.

        Raises:
            UsageError: no such ticker or rank, a date later than today, or no query where
                ``relevant`` is asked for.
        """
        ticker = check_ticker(ticker)
        chosen = check_choice(Rank, self.settings.rank if rank is None else rank, "rank")
        if rank is not None and chosen is Rank.RELEVANT and query is None:
            raise UsageError("rank='relevant' needs a query; hand in what the decision is about")
        if query is not None:
            check_text(query, "query")
        instant = self._instants.asked(ticker, as_of)[0]
        holdout = self._holdout(ticker, as_of, instant, check_agent(agent))
        if chosen is Rank.RELEVANT:
            return self.finder.recall(
                ticker, instant, query or "", explain=explain, holdout=holdout
            )
        return recall(
            self.journal,
            ticker,
            instant,
            same_ticker=self.settings.same_ticker,
            cross_ticker=self.settings.cross_ticker,
            budget=self.settings.budget,
            explain=explain,
            holdout=holdout,
        )

    def record(
        self,
        ticker: str,
        date: Date | str,
        text: str,
        *,
        rating: Rating | str | None = None,
        agent: str = "",
        horizon: int | None = None,
        decided_at: datetime | str | None = None,
        recalled: Recall | Iterable[str] = (),
        recalled_as_of: datetime | str | None = None,
        cited: Iterable[str] = (),
        withheld: Iterable[str] | None = None,
        on_conflict: OnConflict | str = OnConflict.KEEP,
        extra: Mapping[str, Any] | None = None,
    ) -> Recorded:
        """Store a decision, durably, before it returns.

        Args:
            ticker: in any case.
            date: the date of the decision, in the zone of the ticker's exchange.
            text: what was decided, and why.
            rating: by default read from the text; a text that clearly gives none is
                stored as unrated. A text that clearly gives another is told in a
                warning, and what it says is kept.
            agent: who decided.
            horizon: sessions to hold; the settings' first by default.
            decided_at: the instant, if it is known better than the date and the clock tell.
            recalled: what the decision saw: a :class:`Recall`, or ids.
            recalled_as_of: the instant that this recall used, where ids are handed in.
            cited: ids of the memories that it names.
            withheld: ids that the settings' hold-out kept from it, where ids are handed in as
                recalled; None where no lots were drawn.
            on_conflict: what to do if the date, ticker and agent stand with another text.
            extra: further JSON values to keep with it, such as the name of a model.

        Raises:
            UsageError: an argument cannot be; nothing was written.
            ConflictError: the key stands, and ``on_conflict`` forbids what was asked.
            LogError: it could not be stored; nothing was written.
        """
        ticker, day, now = check_ticker(ticker), parse_date(date), self._now()
        agent = check_agent(agent)
        check_words(text, "a decision", "write what was decided, and why")
        instant, date_only = self._instants.decided(ticker, day, decided_at, now)
        said = rating_of(text)
        rated = said if rating is None else check_choice(Rating, rating, "rating")
        is_late = now >= self._instants.entry_close(ticker, instant)
        drawn = lots_of(recalled, withheld, self.settings.holdout)
        decision = Decision(
            id=entry_id(day, ticker, agent, 0),
            date=day,
            ticker=ticker,
            text=text,
            rating=rated,
            agent=agent,
            decided_at=instant,
            recorded_at=now,
            horizon=check_horizon(self.settings.horizons[0] if horizon is None else horizon),
            recalled=drawn.recalled,
            recalled_as_of=recall_instant(recalled, recalled_as_of),
            cited=ids_of(cited),
            withheld=drawn.withheld,
            holdout=drawn.share,
            flags=("date_only",) * date_only + ("late",) * is_late,
            extra=extra_of(text, said if said is not rated else None, extra or {}),
        )
        entry, stored = self.journal.append(
            decision,
            on_conflict=check_choice(OnConflict, on_conflict, "on_conflict"),
            may_revise=self._instants.may_revise,
        )
        warnings = warnings_of(entry, own_benchmark=self.settings.benchmark is None)
        return Recorded(entry=entry, status=stored, warnings=tuple(warnings))

    def note(
        self,
        text: str,
        *,
        ticker: str | None = None,
        date: Date | str | None = None,
        valid_until: datetime | Date | str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Recorded:
        """Store a lesson or a remark as it stands; recall shows it from now on.

        Args:
            text: what to remember.
            ticker: whom it is about; the whole market by default.
            date: the date that it carries; today by default.
            valid_until: an instant, or a date, which means its last instant, UTC, from
                which on recall leaves it out; by default it stays.
            extra: further JSON values to keep with it, such as who wrote it.

        Raises:
            UsageError: no such ticker or date, an empty text, an end that has passed, or an
                extra that is no JSON.
            LogError: it could not be stored.
        """
        now = self._now()
        name = MARKET if ticker in (None, MARKET) else check_ticker(str(ticker))
        body = clean(check_words(text, "a note", "write what to remember"))
        day = now.date() if date is None else parse_date(date)
        if day > now.date() + timedelta(days=1):  # it is tomorrow already, east of UTC
            raise UsageError(f"{day} is later than today; a note is dated today or earlier")
        end = None if valid_until is None else until(valid_until)
        if end is not None and end <= now:
            raise UsageError(f"{valid_until} has passed; a note is valid until some later instant")
        decision = Decision(
            id="",
            date=day,
            ticker=name,
            text=text,
            is_note=True,
            recorded_at=now,
            extra=check_extra(extra or {})
            | filer_of(self.journal, now, COMPARED).file_note(body, name, note_id(day, name, body)),
            valid_until=end,
        )
        entry, stored = self.journal.append(decision)
        return Recorded(entry=entry.by(now), status=stored)

    # Governing

    def forget(
        self, entry_id: str, *, reason: str, actor: str = "", dry_run: bool = False
    ) -> Entry:
        """Hide an entry from recall; it stays in the file and in statistics.

        Args:
            entry_id: the id, or the beginning of one.
            reason: why.
            actor: who asks for it.
            dry_run: whether only to say what the entry would be.

        Returns:
            The entry as it is then, or would be.

        Raises:
            UnknownEntry: no entry has this id.
            UsageError: there is no reason.
        """
        mandate = Mandate(at=self._now(), reason=reason, actor=actor, dry_run=dry_run)
        return governance.forget(self.journal, self._entry(entry_id), mandate)

    def expire(
        self,
        entry_id: str,
        valid_until: datetime | Date | str,
        *,
        reason: str,
        actor: str = "",
        dry_run: bool = False,
    ) -> Entry:
        """Hide an entry from recall from an instant on, in place of any end that it had.

        Args:
            entry_id: the id, or the beginning of one.
            valid_until: an instant, or a date, which means its last instant, UTC; one that
                has passed hides from now on, never from before.
            reason: why.
            actor: who asks for it.
            dry_run: see :meth:`forget`.

        Raises:
            UnknownEntry: no entry has this id.
            UsageError: there is no reason, or no such instant.
        """
        mandate = Mandate(at=self._now(), reason=reason, actor=actor, dry_run=dry_run)
        return governance.expire(self.journal, self._entry(entry_id), until(valid_until), mandate)

    def supersede(
        self, old: str, new: str, *, reason: str, actor: str = "", dry_run: bool = False
    ) -> Entry:
        """Hide an entry from recall because another one stands in its place.

        Args:
            old: the id of the one to hide, or the beginning of it.
            new: the id of the one that stands.
            reason: why.
            actor: who asks for it.
            dry_run: see :meth:`forget`.

        Returns:
            The old entry as it is then, or would be.

        Raises:
            UnknownEntry: no entry has one of the ids.
            UsageError: there is no reason, or the new one is hidden itself.
        """
        mandate = Mandate(at=self._now(), reason=reason, actor=actor, dry_run=dry_run)
        return governance.supersede(self.journal, self._entry(old), self._entry(new), mandate)

    def undo(
        self,
        entry_id: str,
        *,
        reason: str,
        actor: str = "",
        kind: Act | str | None = None,
        dry_run: bool = False,
    ) -> tuple[Entry, ...]:
        """Take back the latest act on an entry; what recall showed in between stays so.

        On a note that stands for lessons (see :meth:`consolidate`) and has no act of its
        own, every lesson gets its place back, and the note is forgotten.

        Args:
            entry_id: the id, or the beginning of one.
            reason: why.
            actor: who asks for it.
            kind: the latest act of this kind, ``undo`` among them; by default the latest
                ``forget``, ``expire`` or ``supersede`` in force.
            dry_run: see :meth:`forget`.

        Returns:
            Every entry that was acted on, as it is then, or would be; this one first.

        Raises:
            UnknownEntry: no entry has this id.
            UsageError: there is no reason, or nothing to undo.
        """
        mandate = Mandate(at=self._now(), reason=reason, actor=actor, dry_run=dry_run)
        act = None if kind is None else check_choice(Act, kind, "act")
        return governance.undo(self.journal, self._entry(entry_id), mandate, act)

    def consolidate(
        self,
        *,
        ticker: str | None = None,
        tag: str = "",
        least: int = LEAST,
        reason: str = "told by one note",
        actor: str = "",
        dry_run: bool = False,
    ) -> tuple[Consolidation, ...]:
        """Let one note stand for lessons that say the same, or are about the same.

        The note tells the facts and links its sources. A model words what they have in common
        where the reflector asks one, checked like a lesson; else, and where that fails, the
        note quotes them. They stay as they are and are superseded by it, so that recall shows
        it instead of each.

        Args:
            ticker: only this one's lessons; by default each ticker's for itself.
            tag: only lessons with this tag; by default those that say the same, then
                those with a tag in common.
            least: lessons that a note needs to be worth its place, 2 or more.
            reason: why.
            actor: who asks for it.
            dry_run: whether only to say which notes would be written, and for what.

        Raises:
            UsageError: no such ticker, or ``least`` is below 2.
            LogError: it could not be stored; what was done before stands.
        """
        mandate = Mandate(at=self._now(), reason=reason, actor=actor, dry_run=dry_run)
        name = None if ticker is None else check_ticker(ticker)
        return governance.consolidate(
            self.journal,
            mandate,
            ticker=name,
            tag=tag,
            least=least,
            digester=getattr(self.reflector, "digester", None),
            clock=self._now,
        )

    # Resolving

    def resolve(
        self,
        as_of: AsOf = None,
        tickers: Iterable[str] | None = None,
        *,
        reflect: bool = True,
        accept: Iterable[str] = (),
        retry_unresolvable: bool = False,
        recheck: bool = False,
        wait: float = 0,
        progress: Progress | None = None,
    ) -> ResolveReport:
        """Settle what has come due, and have the lessons written.

        What a person asks for (the last of these arguments but two) is known from now on,
        so a read as of an earlier instant still shows what was known then.

        Args:
            as_of: settle as if it were then; now by default, and never past the clock.
            tickers: only these; all by default.
            reflect: whether to have lessons written.
            accept: ids of suspect entries whose closes are to be taken as they are.
            retry_unresolvable: whether to ask again for what was given up.
            recheck: whether to ask again for what has an outcome; a return or alpha that
                differs by more than 5 basis points is added as a correction.
            wait: seconds to wait for another resolver of the same log.
            progress: called with what is going on, how many are done, and of how many.

        Raises:
            LogBusy: another process is resolving this log.
            LogError: the log cannot be read or written.
            UnknownEntry: nothing has an id that is to be accepted.
        """
        started = self._now()
        instant = as_instant(as_of, started)
        names = check_list(tickers, "tickers")
        only = None if tickers is None else {check_ticker(ticker) for ticker in names}
        accepted = {self._entry(name).id for name in check_list(accept, "accept")}
        wait = check_seconds(wait, "wait")
        run = self._run(started, progress)

        def wanted(entries: Iterable[Entry]) -> list[Entry]:
            return [
                entry
                for entry in entries
                if (only is None or entry.ticker in only) and entry.recorded.known_at <= instant
            ]

        with self.journal.resolving(wait):
            unfinished = wanted(self.journal.unfinished())
            others = self.settings.horizons[1:]
            lacking = wanted(self.journal.lacking(others)) if others else []
            again = wanted(self.journal.entries()) if retry_unresolvable or recheck else []
            with claimed(self.journal, [*unfinished, *lacking, *again]) as claim:
                mine = {entry.id: entry for entry in claim.entries}
                run.add = claim.add
                unfinished, lacking, again = (
                    [mine[entry.id] for entry in entries if entry.id in mine]
                    for entries in (unfinished, lacking, again)
                )
                asks = run.asks(
                    pending=[entry for entry in unfinished if entry.status is Status.PENDING],
                    lacking=lacking,
                    again=again,
                    accepted=accepted,
                    retry_unresolvable=retry_unresolvable,
                    recheck=recheck,
                )
                settled = {entry.id: entry for entry in run.settle(asks, instant)}
                if reflect:
                    due = {e.id: e for e in unfinished if e.known_at and e.known_at <= instant}
                    run.reflect(list((due | settled).values()))
                claim.later(run.later)
        return run.report()

    def work(
        self,
        *,
        tickers: Iterable[str] | None = None,
        reflect: bool = True,
        batch: int = BATCH,
        lease: float = LEASE,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[ResolveReport]:
        """Resolve what is due beside other workers, some entries at a time.

        Each entry is claimed before anything is asked for it, so any number of workers on
        any number of machines share the work. One that dies loses its claims after the
        lease. What failed or waits is left for a while, and comes up again in later calls.

        Args:
            tickers: only these; all by default.
            reflect: whether to have lessons written.
            batch: entries that are claimed at a time.
            lease: seconds after which the claims of a worker that died run out.
            stop: asked before each batch; once it is true, no more are claimed.

        Yields:
            What was done with each batch, until nothing is due.

        Raises:
            UsageError: this memory's journal has no work queue; only a database has one.
            LogError: the log cannot be read or written.
        """
        only = None if tickers is None else {check_ticker(ticker) for ticker in tickers}
        return work(
            self.journal,
            lambda: self._run(self._now(), None),
            tickers=only,
            reflect=reflect,
            batch=batch,
            lease=lease,
            stop=stop,
        )

    def _run(self, started: datetime, progress: Progress | None) -> Run:
        return Run(
            journal=self.journal,
            prices=lambda: self.prices,
            reflector=self.reflector,
            settings=self.settings,
            now=self._now,
            decided_at=self._instants.of,
            started=started,
            progress=progress or (lambda *_: None),
        )

    def due(self, entry: Entry) -> datetime | None:
        """When a pending decision's outcome is due, aware UTC; None if it waits for none."""
        if entry.status is not Status.PENDING:
            return None
        from tradmem.market.question import Question, window_of  # noqa: PLC0415 - calendars

        question = Question(
            ticker=entry.ticker,
            decided_at=entry.decided_at or self._instants.of(entry),
            horizon=entry.recorded.horizon or self.settings.horizons[0],
        )
        return window_of(question, self.settings.aliases).due

    # Reading

    def get(self, entry_id: str) -> Entry | None:
        """The entry with an id, or with the only id that begins so; None if there is none.

        Raises:
            UsageError: several ids begin so.
        """
        entry = self.journal.get(check_text(entry_id, "the id of an entry"))
        if entry is None and len(entry_id) >= _SHORTEST_PREFIX:
            found = self._beginning(entry_id)
            if len(found) > 1:
                raise UsageError(
                    f"{entry_id} is the beginning of {len(found)} ids; write more of it"
                )
            entry = self.journal.get(next(iter(found))) if found else None
        return entry.by(self._now()) if entry else None

    def _beginning(self, start: str) -> set[str]:
        """The ids that begin so, by an index where the journal has one."""
        if isinstance(self.journal, PrefixJournal):
            return set(self.journal.beginning(start))
        return {e.id for e in self.journal.entries() if e.id.startswith(start)}

    def entries(
        self,
        ticker: str | None = None,
        status: Status | str | None = None,
        as_of: AsOf = None,
        archived: bool = True,
    ) -> list[Entry]:
        """Entries by date, then in file order.

        Args:
            ticker: only this one.
            status: only those with this status.
            as_of: as they stood then; now by default.
            archived: whether to look into the archive too.
        """
        wanted = _ticker(ticker)
        state = None if status is None else check_choice(Status, status, "status")
        entries: Iterable[Entry] = self.journal.entries(archived=archived)
        now = self._now()
        if as_of is None:
            entries = [entry.by(now) for entry in entries]
        else:
            instant = as_instant(as_of, now)
            entries = [then for entry in entries if (then := entry.at(instant))]
        return [
            entry
            for entry in entries
            if (wanted is None or entry.ticker == wanted)
            and (state is None or entry.status is state)
        ]

    def search(
        self,
        query: str = "",
        *,
        ticker: str | None = None,
        where: Mapping[str, Any] | None = None,
        since: Date | str | None = None,
        until: Date | str | None = None,
        as_of: AsOf = None,
        limit: int | None = 20,
        archived: bool = True,
    ) -> list[Entry]:
        """The entries whose texts hold all the words of a query, the newest first.

        Where no entry holds all of them: those that hold the most, by how rare the words
        are. Looked into are decision, lesson, note, tags and ticker, each as it stood.

        Args:
            query: words in any script, and phrases in quotation marks; whatever else is in
                it is mere text. An empty one finds everything that the rest lets through.
            ticker: only this one.
            where: only what passes this filter, see :mod:`tradmem.filters`.
            since: only what carries this date or a later one.
            until: only what carries this date or an earlier one.
            as_of: as the entries stood then; now by default.
            limit: at most this many; None for all.
            archived: whether to look into the archive too.

        Raises:
            UsageError: no such ticker, date or limit, or a filter that cannot be.
        """
        now, test, query = self._now(), entry_test(where), check_text(query, "query")
        sought = Sought(
            query=query,
            as_of=None if as_of is None else as_instant(as_of, now),
            ticker=_ticker(ticker),
            since=None if since is None else parse_date(since),
            until=None if until is None else parse_date(until),
            archived=archived,
        )
        most = None if limit is None else check_count(limit, "limit")
        found = find(self.finder, sought, limit=most, passes=lambda e: test(e.by(now)))
        return [entry.by(now) for entry in found.entries]

    def track(
        self,
        as_of: AsOf = None,
        *,
        tickers: Iterable[str] = (),
        agents: Iterable[str] = (),
        since: Date | str | None = None,
        until: Date | str | None = None,
        report: ResolveReport | None = None,
    ) -> TrackRecord:
        """How good the decisions were, by ticker, rating and agent, and how sure that is.

        Args:
            as_of: from what was known then; now by default.
            tickers: only these; all by default.
            agents: only these; all by default.
            since: only decisions of this date or later.
            until: only decisions of this date or earlier.
            report: what :meth:`resolve` just said; it tells those that wait for a close from
                those whose closes a person has to look at.
        """
        instant = as_instant(as_of, self._now())
        counts = _chosen(tickers, agents, since, until)
        entries = list(filter(counts, self.entries(as_of=instant)))
        dues = ((entry.id, self.due(entry)) for entry in entries)
        pending = {name: "not_due" for name, due in dues if due and due > instant}
        for group, told in report.items() if report else ():
            if group in ("waiting", "suspect"):
                pending[told.entry.id] = group
        return track(entries, default_horizon=self.settings.horizons[0], pending=pending)

    def lesson_utility(
        self,
        as_of: AsOf = None,
        *,
        tickers: Iterable[str] = (),
        agents: Iterable[str] = (),
        since: Date | str | None = None,
        until: Date | str | None = None,
        horizon: int | None = None,
        false_discovery: float = FALSE_DISCOVERY,
    ) -> LessonUtility:
        """What lessons were worth to the decisions that saw them, by tag, and how sure that is.

        It takes decisions that were made with a hold-out, see ``Settings.holdout``.

        Args:
            as_of: see :meth:`track`, and for the next four; they choose decisions, not lessons.
            tickers: only these; all by default.
            agents: only these; all by default.
            since: only decisions of this date or later.
            until: only decisions of this date or earlier.
            horizon: of the decisions, in sessions; that of most by default.
            false_discovery: the share of wrong ones that is put up with among the tags found.

        Raises:
            UsageError: no such ticker, date or share.
        """
        return lesson_utility(
            self.entries(as_of=as_instant(as_of, self._now())),
            horizon=None if horizon is None else check_horizon(horizon),
            false_discovery=false_discovery,
            counts=_chosen(tickers, agents, since, until),
        )

    def history(self, entry_id: str, as_of: AsOf = None) -> tuple[Event, ...]:
        """Everything that ever happened to an entry, in order, with its instants and actors.

        Args:
            entry_id: the id, or the beginning of one.
            as_of: only what was known then; everything that is stored by default.

        Raises:
            UnknownEntry: no entry has this id, or had it then.
        """
        entry, now = self._entry(entry_id), self._now()
        if as_of is None:
            return history(entry, self.journal.entries(), now)
        instant = as_instant(as_of, now)
        found = history_at(entry, self.journal.entries(), instant)
        if not found:
            raise UnknownEntry(f"{entry.id} was not there yet at {format_instant(instant)}")
        return found

    def audit(self) -> tuple[Finding, ...]:
        """Whatever in the log or its archives shows that something was seen before it was known.

        Nothing is asked but the log itself and the calendars of exchanges; no finding means
        that every recorded decision saw only what was known, stored and not hidden at the
        instant of its recall, and that every outcome was known after its closes were final.
        """
        return audit(self.journal.entries(), self.settings.aliases)

    def frame(self) -> "pd.DataFrame":
        """One row per entry, in the order of :meth:`entries`; returns are fractions."""
        import pandas as pd  # noqa: PLC0415 - heavy

        return pd.DataFrame([as_row(entry) for entry in self.entries()], columns=list(COLUMNS))

    # Small parts

    def _holdout(self, ticker: str, as_of: AsOf, instant: datetime, agent: str) -> Holdout | None:
        """The lots of one decision; None where the settings have none drawn."""
        if not self.settings.holdout:  # else a recall would load calendars
            return None
        day = self._instants.date(ticker, as_of, instant)
        return holdout_of(self.settings, ticker, day, agent)

    def _now(self) -> datetime:
        return utc(self.clock())

    def _entry(self, entry_id: str) -> Entry:
        entry = self.get(entry_id)
        if entry is None:
            short = " (write four characters or more)" * (len(entry_id) < _SHORTEST_PREFIX)
            raise UnknownEntry(f"no entry has the id {entry_id}{short}; `tradmem log` lists them")
        return entry


def _chosen(
    tickers: Iterable[str],
    agents: Iterable[str],
    since: Date | str | None,
    until: Date | str | None,
) -> Callable[[Entry], bool]:
    """Whether a decision is of some tickers, agents and dates; of all where none are named."""
    names = {check_ticker(ticker) for ticker in check_list(tickers, "tickers")}
    makers = set(check_list(agents, "agents"))
    first = Date.min if since is None else parse_date(since)
    last = Date.max if until is None else parse_date(until)
    return lambda entry: (
        first <= entry.date <= last
        and (not names or entry.ticker in names)
        and (not makers or entry.agent in makers)
    )


def _ticker(name: str | None) -> str | None:
    return name if name in (None, MARKET) else check_ticker(str(name))
