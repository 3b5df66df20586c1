"""Language models behind any OpenAI-compatible endpoint, and what asking them costs."""
