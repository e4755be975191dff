"""Functions that sqlglot's grammars do not let one call: operators by name, and words among the arguments."""

from collections.abc import Callable

from sqlglot import exp, parser
from sqlglot.tokens import TokenType

from lineage_pipeline.dialects.functions import CALLED, JSON_TEXTS

Parse = Callable[[parser.Parser], exp.Expr | None]


def called_tokens(name: str, known: set[TokenType]) -> set[TokenType]:
    """The words that may be called as functions in a grammar."""
    return {*known, *(TokenType[word] for word in CALLED.get(name, ()))}


def call_parsers(name: str, known: dict[str, Parse]) -> dict[str, Parse]:
    """How a grammar reads the arguments of functions that have words among them."""
    own: dict[str, Parse] = {"XMLPARSE": _xml("XMLPARSE"), "XMLSERIALIZE": _xml("XMLSERIALIZE")}
    if name in JSON_TEXTS:
        own["JSON_OBJECT"] = _json_object(known["JSON_OBJECT"])
    return {**known, **own}


def _json_object(with_keys: Parse) -> Parse:
    """JSON_OBJECT of texts that hold keys and values, or of pairs of them."""

    def parse(self: parser.Parser) -> exp.Expr | None:
        first = self._index
        texts = self._try_parse(lambda: self._parse_csv(self._parse_bitwise))
        if texts and len(texts) <= 2 and self._curr and self._curr.token_type is TokenType.R_PAREN:
            return exp.Anonymous(this="JSON_OBJECT", expressions=texts)
        self._retreat(first)
        return with_keys(self)

    return parse


def _xml(name: str) -> Parse:
    """XMLPARSE(CONTENT x) and XMLSERIALIZE(DOCUMENT x AS type)."""

    def parse(self: parser.Parser) -> exp.Expr | None:
        if not self._match_text_seq("CONTENT"):
            self._match_text_seq("DOCUMENT")
        value = self._parse_bitwise()
        if value is not None and self._match_text_seq("AS"):
            value = exp.Cast(this=value, to=self._parse_types())
        while self._curr and self._curr.text.upper() in _TRAILING:
            self._advance()
        return exp.Anonymous(this=name, expressions=[value])

    return parse


_TRAILING = ("PRESERVE", "STRIP", "WHITESPACE", "WELLFORMED", "NO", "INDENT")
