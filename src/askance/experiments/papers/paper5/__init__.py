"""Paper 5."""
