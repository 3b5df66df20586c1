"""Identity providers: people who sign in elsewhere."""
