"""Which requests a local page answers: those with its token, sent to its own address, by its own page.

Any page in the browser can send requests to 127.0.0.1, and a name that somebody else owns can point there. So the path
begins with a secret, the Host header has to be this server's, and an Origin header has to be that of its own pages.
"""

import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

HOST = "127.0.0.1"


def fresh_token() -> str:
    """A secret for one server, fit for a URL."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class LocalAccess:
    """The token and the port of a server.

    >>> LocalAccess(8000, token="secret").url
    'http://127.0.0.1:8000/secret/'
    """

    port: int
    token: str = field(default_factory=fresh_token, repr=False)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/{self.token}/"

    def refusal(self, path: str, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """Why a request is refused; None for one that may pass. The names of headers are in lower case.

        >>> LocalAccess(8000, token="secret").refusal("/secret/", [(b"host", b"example.com")])
        'the Host header is not this server'
        """
        given = list(headers)
        hosts = [value for name, value in given if name == b"host"]
        origins = [value for name, value in given if name == b"origin"]
        known = {f"{name}:{self.port}".encode() for name in (HOST, "localhost")}
        if len(hosts) != 1 or hosts[0].lower() not in known:
            return "the Host header is not this server"
        if any(origin.lower() != b"http://" + hosts[0].lower() for origin in origins):
            return "the request comes from another origin"
        token = path.removeprefix("/").partition("/")[0]
        if not hmac.compare_digest(token.encode(errors="replace"), self.token.encode()):
            return "the address has no valid token; open the one that kleene printed"
        return None
