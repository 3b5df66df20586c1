"""How agents discover their tools: what stands in the prompt, and whether the right tool is found."""
