"""Models for tests: a server on loopback that speaks the OpenAI wire format and says what a script tells it to.

```python
with ScriptedModels([{"when": {"user": "weather"}, "reply": "Sunny."}]) as models:
    client = openai.OpenAI(base_url=models.url, api_key="any")
```

It stands in for a model's format, its faults and its slowness, never for a model's quality.
"""

from interlace.resources.models.testing.script import Asked, Call, Match, Reply, Rule, Script, Used
from interlace.resources.models.testing.server import ScriptedModels

__all__ = ["Asked", "Call", "Match", "Reply", "Rule", "Script", "ScriptedModels", "Used"]
