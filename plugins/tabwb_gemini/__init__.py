"""Google's Gemini models, over the google-genai client."""
