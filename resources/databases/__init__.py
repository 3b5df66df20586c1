"""SQL databases by URL: allow-listed, policed, bound, limited and cancellable."""

from interlace.resources.databases.databases import Databases
from interlace.resources.databases.result import QueryResult, WriteResult
from interlace.resources.databases.url import DatabaseUrl

__all__ = ["DatabaseUrl", "Databases", "QueryResult", "WriteResult"]
