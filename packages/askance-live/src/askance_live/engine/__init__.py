"""The one thread that writes, and the model it owns: events in, answers learned, checkpoints, replay."""
