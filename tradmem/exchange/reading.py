"""Files of entries, read: JSON lines, CSV, Parquet, pages of markdown, and logs.

What a file holds comes as whole entries, or as rows of past decisions that are entries only
once a calendar has told when they were made.
"""
