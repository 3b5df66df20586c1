"""Published workflows as web forms, and requests to people as pages: no script, nothing from elsewhere."""
