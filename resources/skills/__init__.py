"""Skills: an organisation's ways of doing things, as texts that agents read when they need them."""
