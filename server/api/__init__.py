"""The REST API, one router a resource."""
