"""Parsers of the DOT and Mermaid texts that we write, strict enough to show that a text holds nothing else."""

import re
from typing import NamedTuple
from xml.etree import ElementTree

MERMAID_LABEL = r'"((?:[^"#<>&`\\|%$:{}]|#\d+;)+)"'
"""Nothing ends it, or is an entity, HTML, Markdown, a directive, a formula or an icon."""

MERMAID_LINES = {
    "node": re.compile(rf"\s+(n\d+(?:c\d+)?)(?:\[{MERMAID_LABEL}\]|\(\[{MERMAID_LABEL}\]\)|\[\[{MERMAID_LABEL}\]\])"),
    "frame": re.compile(rf"\s+subgraph (n\d+)\[{MERMAID_LABEL}\]"),
    "end": re.compile(r"\s+end"),
    "arrow": re.compile(rf"\s+(n\d+(?:c\d+)?) (?:-->|-\.->)(?:\|{MERMAID_LABEL}\|)? (n\d+(?:c\d+)?)"),
}
DOT_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([A-Za-z_]\w*|-?\d+(?:\.\d+)?)|(->|[{}\[\];,=:])|(<))', re.DOTALL)


class ParsedGraph(NamedTuple):
    """The nodes by their ids with labels, and the arrows between them."""

    nodes: dict[str, str]
    arrows: list[tuple[str, str]]


def parse_mermaid(text: str) -> ParsedGraph:
    """Parse one of our flowcharts; any other kind of line and an arrow to nowhere are errors."""
    first, *lines = text.split("\n")
    assert first == "flowchart LR"
    assert lines.pop() == ""
    nodes, arrows, depth = {}, [], 0
    for line in lines:
        kind, match = next(
            ((kind, found) for kind, row in MERMAID_LINES.items() if (found := row.fullmatch(line))), ("", None)
        )
        assert match is not None, line
        if kind == "arrow":
            arrows.append((match[1], match[3]))
        elif kind == "end":
            depth -= 1
        else:
            assert match[1] not in nodes
            nodes[match[1]] = next(group for group in match.groups()[1:] if group is not None)
            depth += kind == "frame"
        assert depth in (0, 1)
    assert depth == 0
    assert {end for arrow in arrows for end in arrow} <= nodes.keys()
    return ParsedGraph(nodes, arrows)


def parse_dot(text: str) -> ParsedGraph:
    """Parse a digraph by Graphviz's token grammar; labels in angle brackets must be XML."""
    tokens = _dot_tokens(text)
    assert tokens[:3] == ["digraph", "lineage", "{"]
    assert tokens[-1] == "}"
    nodes: dict[str, str] = {}
    arrows = []
    for statement in _split_statements(tokens[3:-1]):
        subject, attributes = _split_attributes(statement)
        if "->" in subject:
            middle = subject.index("->")
            arrows.append((subject[0], subject[middle + 1]))
        elif "=" not in subject and subject != ["node"]:
            assert len(subject) == 1 and subject[0] not in nodes
            nodes[subject[0]] = attributes["label"]
            assert not re.search(r"&(?!\w+;|#x27;)", attributes["label"])
    assert {end for arrow in arrows for end in arrow} <= nodes.keys()
    return ParsedGraph(nodes, arrows)


def _dot_tokens(text: str) -> list[str]:
    tokens, at, text = [], 0, text.rstrip()
    while at < len(text):
        match = DOT_TOKEN.match(text, at)
        assert match is not None, text[at : at + 40]
        at = match.end()
        if match[4]:
            start, depth = at, 1
            while depth:
                depth += {"<": 1, ">": -1}.get(text[at], 0)
                at += 1
            inside = text[start : at - 1]
            ElementTree.fromstring(inside)
            tokens.append(f"<{inside}>")
        else:
            tokens.append(next(group for group in match.groups() if group is not None))
    return tokens


def _split_statements(tokens: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for token in tokens:
        if token == ";":
            found.append([])
        else:
            found[-1].append(token)
    assert found.pop() == []
    return found


def _split_attributes(statement: list[str]) -> tuple[list[str], dict[str, str]]:
    if "[" not in statement:
        return statement, {}
    opened = statement.index("[")
    assert statement[-1] == "]"
    inside = statement[opened + 1 : -1]
    assert all(token == "," for token in inside[3::4])
    assert all(token == "=" for token in inside[1::4])
    return statement[:opened], dict(zip(inside[::4], inside[2::4], strict=True))
