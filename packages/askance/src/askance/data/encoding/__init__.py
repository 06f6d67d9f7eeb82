"""From the fields of a raw event to a sparse row: numbers, categories, text."""
