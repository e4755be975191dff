"""Dialect signs: words and characters that hardly any other dialect has, with weights."""

import re

import msgspec


class DialectSign(msgspec.Struct, frozen=True):
    """One sign of a dialect in a text."""

    name: str
    """What it is called in the reasons for a detected dialect."""
    pattern: re.Pattern[str]
    """The expression that finds it."""
    worth: int = 1
    """Its weight; 3 is as good as certain."""
    words: tuple[str, ...] = ()
    """A text without any of these cannot match, which is quicker to test; empty: always try."""

    def matches(self, text: str, lowered: str) -> bool:
        """Return whether a text has the sign."""
        return any(word in lowered for word in self.words or ("",)) and self.pattern.search(text) is not None


def build_sign(name: str, pattern: str, worth: int = 1, words: str = "") -> DialectSign:
    """Build a sign of a pattern that ignores case; the words are separated by blanks."""
    return DialectSign(name, re.compile(pattern, re.IGNORECASE | re.MULTILINE), worth, tuple(words.split()))


def build_driver_sign(name: str, *, modules: str, operators: str, scheme: str, worth: int = 4) -> DialectSign:
    """Build a sign of the modules, operators and addresses by which a program reaches a database."""
    imported = rf"\b(?:import|from)\s+(?:{modules})\b"
    tasks = rf"\b(?:{operators})\w*(?:Operator|Hook|Sensor)\b"
    said = re.sub(r"\w\?|\\s\+import", " ", f"{modules} {operators} {scheme}".lower())
    words = " ".join(re.findall(r"[a-z0-9_]{4,}", said))
    return build_sign(f"a connector for {name}", rf"{imported}|{tasks}|['\"](?:{scheme})(?:\+\w+)?://", worth, words)
