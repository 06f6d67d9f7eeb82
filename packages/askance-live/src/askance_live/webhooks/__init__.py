"""Telling other programs what happens: settings, outbox, delivery."""
