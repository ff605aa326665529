"""Chat completions of OpenAI and of every server that speaks its protocol."""
