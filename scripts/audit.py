"""Look every pinned dependency up in the list of known vulnerabilities: `python scripts/audit.py` (`make audit`).

What could not be looked up is no good news: it fails as a known vulnerability does, and says which of the two it is.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
COMMAND = ("tool", "run", "pip-audit", "--strict", "--require-hashes", "--disable-pip", "-r", str(LOCK))
UNASKED = ("could not be audited", "ConnectionError", "Connection refused", "Failed to fetch", "timed out", "HTTPError")


def main() -> int:
    """Ask, print what was said, and end with what it means."""
    done = subprocess.run([Path(sys.executable).parent / "uv", *COMMAND], capture_output=True, text=True, check=False)
    sentence = verdict(done.returncode, done.stdout + done.stderr)
    print(done.stdout, end="")
    print(f"audit: {sentence}", file=sys.stderr if done.returncode else sys.stdout)
    return int(done.returncode != 0)


def verdict(code: int, said: str) -> str:
    """What an audit came to, in one sentence."""
    if not code:
        return "no pinned dependency has a known vulnerability"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    reason = next((line for line in lines if any(word in line for word in UNASKED)), "")
    if reason:
        return f"the list of known vulnerabilities could not be asked, so that nothing is known: {reason}"
    return f"some dependency has a known vulnerability, or pip-audit failed: {lines[-1] if lines else f'exit {code}'}"


if __name__ == "__main__":
    sys.exit(main())
