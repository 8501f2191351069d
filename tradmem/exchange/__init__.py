"""Entries on their way out of a journal and into another: files, logs, pages, databases."""
