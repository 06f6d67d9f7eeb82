"""A reader per format, and what turns what they read into batches of sparse rows."""
