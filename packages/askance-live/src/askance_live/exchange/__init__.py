"""Events and labels in and out: files, exports, Label Studio, Prodigy."""
