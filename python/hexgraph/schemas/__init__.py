"""Schemas: written from classes and dicts of Python, and suggested by the data."""
