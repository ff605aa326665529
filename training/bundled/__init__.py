"""The bundled demonstration model: its generated text, its training and its evaluation."""
