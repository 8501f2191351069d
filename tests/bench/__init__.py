"""What the memory costs, beside what the operating system itself costs: ``make bench``."""
