"""Labels: what DDL says of objects and columns for people and policies: comments, descriptions and tags."""

from collections.abc import Iterable, Iterator

from sqlglot import exp
from sqlglot.tokens import TokenType

from lineage_pipeline.engine.compile.cursor import STRINGS, Cursor

Label = tuple[str, tuple[str, ...]]
"""A comment, and tags as `name` or `name=value`."""

NOTHING: Label = ("", ())
COMMENTS = (exp.SchemaCommentProperty, exp.CommentColumnConstraint)


def label_of(nodes: Iterable[exp.Expr]) -> Label:
    """The comment and the tags among properties of an object or constraints of a column."""
    comment, tags = "", list[str]()
    for node in nodes:
        if isinstance(node, COMMENTS):
            comment = node.this.name
        elif isinstance(node, exp.Tags):
            tags.extend(_tag(item.name, item.args["value"].name) for item in node.expressions if "value" in item.args)
        elif isinstance(node, exp.Properties):  # BigQuery: OPTIONS of a column
            more, further = label_of(node.expressions)
            comment, tags = more or comment, [*tags, *further]
        elif isinstance(node, exp.Property) and node.name.lower() == "description":
            comment = node.args["value"].name
        elif isinstance(node, exp.Property) and node.name.lower() in ("labels", "policy_tags"):
            tags.extend(_listed(node.args["value"]))
    return comment, tuple(tags)


def _listed(node: exp.Expr) -> Iterator[str]:
    for item in node.expressions:
        if isinstance(item, exp.Tuple | exp.Paren):
            yield _tag(*(part.name for part in item.expressions[:2]))
        elif item.name:
            yield item.name


def _tag(name: str, value: str = "") -> str:
    return f"{name}={value}" if value else name


def tags_at(cursor: Cursor) -> tuple[str, ...]:
    """The tags of SET TAG and SET TAGS: `name = 'value'` each, perhaps in brackets; going on behind them."""
    if not cursor.opens():
        return tuple(_pairs(cursor))
    found = tuple(tag for tokens in cursor.brackets() for tag in _pairs(Cursor(tokens, cursor.traits)))
    cursor.rest()
    return found


def _pairs(cursor: Cursor) -> Iterator[str]:
    """Tags one by one, up to a further column that gets some."""
    while not cursor.done and (cursor.word() != "COLUMN" or cursor.word(2) != "SET"):
        name = cursor.string() or _dotted(cursor)
        value = ""
        following = cursor.tokens[cursor.index : cursor.index + 1]
        if following and following[0].token_type is TokenType.EQ:
            cursor.index += 1
            value = cursor.string()
        if name:
            yield _tag(name, value)
        cursor.rest()


def _dotted(cursor: Cursor) -> str:
    """A dotted name as it is written: tags are compared by people, not by engines."""
    begin = cursor.index
    cursor.name()
    return "".join(token.text for token in cursor.tokens[begin : cursor.index])


def options_at(cursor: Cursor) -> Label:
    """What OPTIONS of an ALTER say: `description = '…'`, and labels in pairs."""
    comment, tags = "", list[str]()
    for item in cursor.brackets() if cursor.opens() else ():
        texts = [token.text for token in item if token.token_type in STRINGS]
        word = item[0].text.lower()
        if word == "description" and texts:
            comment = texts[0]
        elif word == "labels":
            tags.extend(_tag(*pair) for pair in zip(texts[::2], texts[1::2], strict=False))
    return comment, tuple(tags)
