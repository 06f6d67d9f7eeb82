"""What the label page shows of an event, and what people are told about the work."""
