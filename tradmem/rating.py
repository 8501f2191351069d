"""Which of the five ratings a text gives, if it clearly gives one."""
