"""Written files as plain data: pages and pictures without their styles and scripts, and other files line by line."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from tests.snapshots.normalising import normalised, text
from tests.snapshots.packing import digest, numbers, packed

DOCUMENT = re.compile(r'<script id="document" type="application/json">(.*?)</script>', re.DOTALL)
ASSET = re.compile(r"<(style|script)([^>]*)>(.*?)</\1>", re.DOTALL)
POLICY = re.compile(r"sha256-[\w+/=]+")
NUMBER = re.compile(r"(?<![\w#.])-?\d+\.\d+")


def written_file(path: Path) -> Any:
    """What a file holds: of a page its data and its markup, of others the lines."""
    content = path.read_text()
    if path.suffix not in (".html", ".svg"):
        return [text(line) for line in content.splitlines()]
    document = DOCUMENT.search(content)
    markup = DOCUMENT.sub("<script>DOCUMENT</script>", content)
    answer = _markup(ASSET.sub(r"<\1\2>ASSET</\1>", POLICY.sub("sha256-HASH", markup)))
    return answer if document is None else answer | {"document": _unpacked(json.loads(document[1]))}


def assets(page: str) -> list[str]:
    """A digest of each style and script of a page, in their order."""
    return [f"{kind}: {digest(content.encode())}" for kind, _, content in ASSET.findall(DOCUMENT.sub("", page))]


def _markup(markup: str) -> dict[str, Any]:
    """The elements, one a line, with # for each number that has a fraction; and these numbers."""
    lines = NUMBER.sub("#", markup).replace("><", ">\n<").splitlines()
    found = [float(number) for number in NUMBER.findall(markup)]
    return {"lines": [text(line) for line in lines]} | ({"numbers": numbers(found)} if found else {})


def _unpacked(value: Any) -> Any:
    """The document with its columns as arrays, because deflated bytes may differ where the numbers do not."""
    if isinstance(value, list):
        return [_unpacked(item) for item in value]
    if not isinstance(value, dict):
        return normalised(value)
    if set(value) != {"type", "shape", "data"}:
        return {key: _unpacked(item) for key, item in value.items()}
    entries = np.frombuffer(zlib.decompress(base64.b64decode(value["data"])), np.dtype(value["type"]).newbyteorder("<"))
    return {"type": value["type"]} | packed(entries.reshape(value["shape"]))
