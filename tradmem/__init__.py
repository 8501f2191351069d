"""The memory of a trading agent."""
