"""Streams whose labels are sets: a question for each doubtful label, all of an event's in one."""
