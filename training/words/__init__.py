"""The bundled speech model: its recordings, its synthesised speech, its training and its figures."""
