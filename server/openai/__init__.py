"""The OpenAI wire format: agents and chat workflows of the caller as models."""
