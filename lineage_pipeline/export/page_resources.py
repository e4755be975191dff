"""Parts of HTML pages: styles and scripts of the folder `page`, their hashes, and embedded JSON."""

import base64
import hashlib
import json
from importlib.resources import files


def read_page_part(name: str) -> str:
    """Read a style, a script or a template of the folder `page`."""
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")


def csp_hash(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows a script or a style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def embed_json(content: object) -> str:
    """Encode JSON so that it cannot end the script element it is in."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
