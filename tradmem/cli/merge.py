"""``merge``: two versions of a log into one."""
