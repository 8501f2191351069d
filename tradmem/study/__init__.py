"""Replays, statistics, plots and the report."""
