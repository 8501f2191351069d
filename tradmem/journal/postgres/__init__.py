"""Entries in PostgreSQL, shared by a fleet: the same contract as the file's.

Two tables only ever grow: ``entries`` and ``additions``. Everything else in the schema
follows from them by the one fold and is written in the same transaction: where an entry
stands, what it taught from when until when, its verdicts, its words, and the work queue.
"""
