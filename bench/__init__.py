"""Measurements: `python -m bench` runs the suite, `python -m bench.journal` and the like one part in detail."""
