"""The ReAct loop and its meta-tools."""
