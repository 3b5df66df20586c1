"""The one outgoing HTTP client: guarded targets, kept connections, credentials, pages."""

from interlace.resources.http.allow import SETTING, AllowList
from interlace.resources.http.answer import Answer
from interlace.resources.http.client import HttpClient
from interlace.resources.http.fault import Unanswered
from interlace.resources.http.message import HttpRequest, HttpResponse, Proxy
from interlace.resources.http.waits import retry_after

__all__ = [
    "SETTING",
    "AllowList",
    "Answer",
    "HttpClient",
    "HttpRequest",
    "HttpResponse",
    "Proxy",
    "Unanswered",
    "retry_after",
]
