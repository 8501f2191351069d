"""Where entries live: one markdown file, memory, or a database."""
