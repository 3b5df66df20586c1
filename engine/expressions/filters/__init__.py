"""The filters of the language; `registry.FILTERS` holds them by name."""
