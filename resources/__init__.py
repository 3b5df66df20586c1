"""What workflows and agents share: outgoing HTTP, databases, the code sandbox, secrets."""
