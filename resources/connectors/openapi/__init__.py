"""OpenAPI descriptions as connectors, and back. Text in, definition and report out: nothing is fetched or opened."""

from interlace.resources.connectors.openapi.conversion import import_openapi
from interlace.resources.connectors.openapi.export import export_openapi

__all__ = ["export_openapi", "import_openapi"]
