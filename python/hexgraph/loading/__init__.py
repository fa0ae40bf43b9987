"""Loads of tables: what may be one, how arguments are read, and how a report looks."""
