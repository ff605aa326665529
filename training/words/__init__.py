"""The bundled speech model: its recordings, synthesised speech, training and figures."""
