"""The Textual program; the only part that imports textual."""
