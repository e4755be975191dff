"""CREATE of tables, views, routines, dictionaries, synonyms and indexes: columns, constraints, comments, tags."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from sqlglot import exp
from sqlglot.tokens import TokenType

from lineage_pipeline.dialects.table_functions import TableEngine
from lineage_pipeline.engine.compile.context import CompileContext, ReadFields, compile_object_name, name_listed_columns
from lineage_pipeline.engine.compile.expressions.data_types import spell_type
from lineage_pipeline.engine.compile.expressions.dispatch import compile_expression
from lineage_pipeline.engine.compile.external_objects import build_external_name
from lineage_pipeline.engine.compile.relations.query import bind_ctes, compile_query
from lineage_pipeline.engine.compile.relations.table_arguments import compile_table_arguments
from lineage_pipeline.engine.compile.tokens import TEXT_TOKENS, TokenReader, is_name_at
from lineage_pipeline.model import ir


def compile_create_synonym(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    """CREATE SYNONYM and CREATE ALIAS: another name of an object."""
    name = cursor.read_name()
    target = cursor.read_name() if cursor.seek("FOR") and cursor.take("FOR") else None
    if name is None or target is None:
        return None
    return {"kind": "CREATE SYNONYM", "definition": ir.Definition(name, "synonym", like=target, replace=True)}


def compile_create_index(context: CompileContext, cursor: TokenReader) -> ReadFields | None:
    """CREATE INDEX: a unique index over plain columns is a constraint; partial and expression indexes are not."""
    unique = "UNIQUE" in cursor.words[: cursor.index]
    cursor.take("CONCURRENTLY")
    cursor.take("IF", "NOT", "EXISTS")
    name = "" if cursor.word() == "ON" else cursor.read_column()
    if not unique or not cursor.seek("ON"):
        return {"kind": "CREATE INDEX"}
    cursor.take("ON", "ONLY") or cursor.take("ON")
    table = cursor.read_name()
    if cursor.take("USING"):
        cursor.index += 1
    columns = _read_index_columns(cursor)
    if table is None or not columns or "WHERE" in cursor.words[cursor.index :]:
        return {"kind": "CREATE INDEX"}
    promise = ir.ConstraintDef("unique", name, columns)
    return {"kind": "CREATE INDEX", "alterations": (ir.Alteration(table, "constrain", constraint=promise),)}


def _read_index_columns(cursor: TokenReader) -> tuple[str, ...]:
    """The columns of an index, or () if one of them is an expression."""
    listed = cursor.read_list() if cursor.at_open_paren() else []
    plain = all(
        item and is_name_at(item, 0) and (len(item) == 1 or item[1].text.upper() in _SORT_KEYWORDS) for item in listed
    )
    return tuple(TokenReader(item, cursor.traits).read_column() for item in listed) if plain else ()


_SORT_KEYWORDS = frozenset("ASC DESC NULLS".split())


def create_properties_of(tree: exp.Expr) -> dict[type[exp.Expr], exp.Expr]:
    """The properties of a CREATE by their types."""
    properties = tree.args.get("properties")
    return {type(item): item for item in properties.expressions} if properties is not None else {}


def partition_columns_of(properties: dict[type[exp.Expr], exp.Expr]) -> list[exp.Expr]:
    """Hive and Spark: the columns declared in PARTITIONED BY."""
    partitioned = properties.get(exp.PartitionedByProperty)
    schema = partitioned.this if partitioned is not None else None
    return (
        [item for item in schema.expressions if isinstance(item, exp.ColumnDef)]
        if isinstance(schema, exp.Schema)
        else []
    )


_COLUMN_CONSTRAINTS: dict[type[exp.Expr], str] = {
    exp.PrimaryKeyColumnConstraint: "primary key",
    exp.UniqueColumnConstraint: "unique",
    exp.CheckColumnConstraint: "check",
    exp.DefaultColumnConstraint: "default",
    exp.CollateColumnConstraint: "collation",
    exp.Reference: "foreign key",
    exp.ForeignKey: "foreign key",
}

_TABLE_CONSTRAINTS: dict[type[exp.Expr], str] = {
    exp.PrimaryKey: "primary key",
    exp.UniqueColumnConstraint: "unique",
    exp.ForeignKey: "foreign key",
    exp.CheckColumnConstraint: "check",
}


_SERIAL_TYPES = (exp.DType.SERIAL, exp.DType.BIGSERIAL, exp.DType.SMALLSERIAL)


def is_serial(column: exp.Expr) -> bool:
    """Whether a column has a serial type: it is never null and has a default."""
    kind = column.args.get("kind")
    return isinstance(kind, exp.DataType) and kind.this in _SERIAL_TYPES


def compile_constraints(context: CompileContext, items: list[exp.Expr]) -> Iterator[ir.ConstraintDef]:
    """The constraints of columns and tables."""
    for item in items:
        if isinstance(item, exp.ColumnDef):
            if is_serial(item):
                yield ir.ConstraintDef("default", "", (context.column_name(item.this),), "nextval")
            for constraint in item.args.get("constraints") or ():
                kind = _COLUMN_CONSTRAINTS.get(type(constraint.args.get("kind")))
                if kind is not None:
                    name = constraint.this.name if isinstance(constraint.args.get("this"), exp.Expr) else ""
                    yield _compile_constraint(
                        context, constraint.args["kind"], kind, name, (context.column_name(item.this),)
                    )
        elif isinstance(item, exp.Constraint):
            for part in item.expressions:
                kind = _TABLE_CONSTRAINTS.get(type(part))
                if kind is not None:
                    yield _compile_constraint(context, part, kind, item.name, _constrained_columns(context, part))
        elif type(item) in _TABLE_CONSTRAINTS:
            yield _compile_constraint(
                context, item, _TABLE_CONSTRAINTS[type(item)], "", _constrained_columns(context, item)
            )


def _constrained_columns(context: CompileContext, node: exp.Expr) -> tuple[str, ...]:
    """The columns of a table constraint, in order."""
    inner = node.this if isinstance(node.args.get("this"), exp.Schema) else node
    if isinstance(node, exp.CheckColumnConstraint):
        return tuple(sorted({context.column_name(column.this) for column in node.find_all(exp.Column)}))
    names = []
    for item in inner.expressions:
        while not isinstance(item, exp.Identifier) and isinstance(item.args.get("this"), exp.Expr):
            item = item.this
        names.append(context.column_name(item))
    return tuple(names)


def _compile_constraint(
    context: CompileContext, node: exp.Expr, kind: str, name: str, columns: tuple[str, ...]
) -> ir.ConstraintDef:
    reference = node if isinstance(node, exp.Reference) else node.args.get("reference")
    target = reference.this if isinstance(reference, exp.Expr) else None
    table = target.this if isinstance(target, exp.Schema) else target
    text = ""
    if kind in ("check", "default", "collation") and isinstance(node.args.get("this"), exp.Expr):
        text = node.this.sql(dialect=context.dialect or None, comments=False)
    references = compile_object_name(context, table) if isinstance(table, exp.Table) else None
    return ir.ConstraintDef(kind=kind, name=name, columns=columns, expression=text, references=references)


ObjectLabel = tuple[str, tuple[str, ...]]
"""A comment, and tags as `name` or `name=value`."""

NO_LABEL: ObjectLabel = ("", ())
_COMMENT_NODES = (exp.SchemaCommentProperty, exp.CommentColumnConstraint)


def compile_label(nodes: Iterable[exp.Expr]) -> ObjectLabel:
    """The comment and the tags among properties of an object or constraints of a column."""
    comment, tags = "", list[str]()
    for node in nodes:
        if isinstance(node, _COMMENT_NODES):
            comment = node.this.name
        elif isinstance(node, exp.Tags):
            tags.extend(
                _format_tag(item.name, item.args["value"].name) for item in node.expressions if "value" in item.args
            )
        elif isinstance(node, exp.Properties):  # BigQuery: OPTIONS of a column
            more, further = compile_label(node.expressions)
            comment, tags = more or comment, [*tags, *further]
        elif isinstance(node, exp.Property) and node.name.lower() == "description":
            comment = node.args["value"].name
        elif isinstance(node, exp.Property) and node.name.lower() in ("labels", "policy_tags"):
            tags.extend(_list_tags(node.args["value"]))
    return comment, tuple(tags)


def _list_tags(node: exp.Expr) -> Iterator[str]:
    for item in node.expressions:
        if isinstance(item, exp.Tuple | exp.Paren):
            yield _format_tag(*(part.name for part in item.expressions[:2]))
        elif item.name:
            yield item.name


def _format_tag(name: str, value: str = "") -> str:
    return f"{name}={value}" if value else name


def read_tags(cursor: TokenReader) -> tuple[str, ...]:
    """Read the tags of SET TAG and SET TAGS: `name = 'value'` each, perhaps in parentheses."""
    if not cursor.at_open_paren():
        return tuple(_read_tag_pairs(cursor))
    found = tuple(tag for tokens in cursor.read_list() for tag in _read_tag_pairs(TokenReader(tokens, cursor.traits)))
    cursor.read_item()
    return found


def _read_tag_pairs(cursor: TokenReader) -> Iterator[str]:
    """Tags one by one, up to the next column that gets some."""
    while not cursor.done and (cursor.word() != "COLUMN" or cursor.word(2) != "SET"):
        name = cursor.read_string() or _read_written_name(cursor)
        value = ""
        following = cursor.tokens[cursor.index : cursor.index + 1]
        if following and following[0].token_type is TokenType.EQ:
            cursor.index += 1
            value = cursor.read_string()
        if name:
            yield _format_tag(name, value)
        cursor.read_item()


def _read_written_name(cursor: TokenReader) -> str:
    """A dotted name as it is written."""
    begin = cursor.index
    cursor.read_name()
    return "".join(token.text for token in cursor.tokens[begin : cursor.index])


def read_options(cursor: TokenReader) -> ObjectLabel:
    """BigQuery: the comment and labels in OPTIONS of an ALTER."""
    comment, tags = "", list[str]()
    for item in cursor.read_list() if cursor.at_open_paren() else ():
        texts = [token.text for token in item if token.token_type in TEXT_TOKENS]
        word = item[0].text.lower()
        if word == "description" and texts:
            comment = texts[0]
        elif word == "labels":
            tags.extend(_format_tag(*pair) for pair in zip(texts[::2], texts[1::2], strict=False))
    return comment, tuple(tags)


def compile_create_dictionary(
    context: CompileContext, tree: exp.Expr, columns: tuple[ir.ColumnDef, ...]
) -> dict[str, Any]:
    """ClickHouse: CREATE DICTIONARY is an object with columns, and a write if its source is a table."""
    name = compile_object_name(context, tree.this.this)
    found: dict[str, Any] = {"kind": "CREATE DICTIONARY", "definition": ir.Definition(name, "table", columns)}
    source = _dictionary_source(context, tree)
    if source is None:
        return found
    outputs = tuple(
        ir.Output(
            name=column.name,
            written=column.written,
            expr=ir.Ref((column.name,), column.start, column.end),
            start=column.start,
            end=column.end,
        )
        for column in columns
    )
    relation = context.add_relation(ir.Select((ir.Source(context.default_alias(source), name=source),), outputs))
    return {**found, "writes": (ir.Write(name, relation, "insert", None, by_name=True),)}


def _dictionary_source(context: CompileContext, tree: exp.Expr) -> ir.Name | None:
    """The table that a dictionary is loaded from."""
    properties = tree.args.get("properties")
    for item in properties.expressions if properties is not None else ():
        if isinstance(item, exp.DictProperty) and str(item.this).upper() == "SOURCE":
            said = {part.this.name.lower(): part.args["value"] for part in item.args.get("settings") or ()}
            texts = [said[key].name for key in ("db", "table") if key in said]
            if "table" in said:
                return ir.Name(tuple(context.fold_table(text) for text in texts), texts[-1])
    return None


RELATION_KINDS = ("TABLE", "VIEW", "DYNAMIC TABLE", "EXTERNAL TABLE", "SOURCE", "MODEL")
_ROUTINE_KINDS = ("PROCEDURE", "FUNCTION", "TRIGGER")


def compile_create(context: CompileContext, tree: exp.Expr) -> dict[str, Any]:
    """CREATE of a table or view defines an object; other objects are only named."""
    kind = str(tree.args.get("kind") or "").upper()
    return (
        _compile_relation(context, tree, kind) if kind in RELATION_KINDS else _compile_other_object(context, tree, kind)
    )


def _compile_other_object(context: CompileContext, tree: exp.Expr, kind: str) -> dict[str, Any]:
    if kind in _ROUTINE_KINDS:
        return _compile_routine(context, tree, kind)
    if kind == "DICTIONARY" and isinstance(tree.this, exp.Schema):
        return compile_create_dictionary(context, tree, _compile_columns(context, tree.this.expressions, []))
    return {"kind": f"CREATE {kind}"}


def _compile_relation(context: CompileContext, tree: exp.Expr, kind: str) -> dict[str, Any]:
    bind_ctes(context, tree)
    properties = create_properties_of(tree)
    schema = tree.this
    table = schema.this if isinstance(schema, exp.Schema) else schema
    if isinstance(schema, exp.Schema):
        name_listed_columns(schema.expressions)
    items = schema.expressions if isinstance(schema, exp.Schema) else []
    partitions = partition_columns_of(properties)
    body = tree.args.get("expression")
    if body is None:  # a column may have no type
        items = [
            exp.ColumnDef(this=item) if type(item) is exp.Identifier else item
            for item in items
            if not _is_storage_key(item)
        ]
    name = compile_object_name(context, table)
    like = _compile_like(context, properties, items)
    listed = _compile_columns(context, items, partitions)
    items = [*items, *partitions]
    if isinstance(body, exp.Table) and _is_structure_only(context, properties, body):
        like, body = compile_object_name(context, body), None
    comment, tags = compile_label(tree.args["properties"].expressions) if properties else NO_LABEL
    definition = ir.Definition(
        name=name,
        kind=_relation_kind(properties, kind),
        columns=listed,
        constraints=tuple(compile_constraints(context, items)),
        relation=_compile_body(context, tree, body),
        header=_header_columns(context, items) if isinstance(body, exp.Expr) else (),
        like=like,
        temporary=_is_temporary(context, properties, name),
        replace=bool(tree.args.get("replace")),
        if_absent=bool(tree.args.get("exists")),
        comment=comment,
        tags=tags,
    )
    if definition.relation == ir.NOWHERE and (exp.ToTableProperty in properties or (kind == "VIEW" and not properties)):
        construct = f"a {kind.lower()} without a query"
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct=construct)
    label = f"CREATE {'MATERIALIZED ' if exp.MaterializedProperty in properties else ''}{kind}"
    writes = (*_compile_to_table(context, properties, definition), *_compile_engine(context, properties, definition))
    return {"kind": label, "definition": definition, **({"writes": writes} if writes else {})}


def _is_storage_key(item: exp.Expr) -> bool:
    """SingleStore: `SORT KEY (a)` and `SHARD KEY (a)` parse as untyped columns with a primary key."""
    said = item.args.get("constraints") or () if item.args.get("kind") is None else ()
    return any(isinstance(own.args.get("kind"), exp.PrimaryKey) and own.args["kind"].expressions for own in said)


def _header_columns(context: CompileContext, items: list[exp.Expr]) -> tuple[str, ...]:
    """The column names before a query, each perhaps with a type or a comment."""
    names = [item.this if isinstance(item, exp.ColumnDef) else item for item in items]
    return tuple(context.column_name(name) for name in names if isinstance(name, exp.Identifier))


def _relation_kind(properties: dict[type[exp.Expr], exp.Expr], kind: str) -> str:
    if exp.MaterializedProperty in properties or exp.DynamicProperty in properties:
        return "materialized view"
    return "external" if exp.ExternalProperty in properties else kind.lower()


def _compile_to_table(
    context: CompileContext, properties: dict[type[exp.Expr], exp.Expr], definition: ir.Definition
) -> Iterator[ir.Write]:
    """ClickHouse: the rows of a materialized view with TO go into a table."""
    to = properties.get(exp.ToTableProperty)
    if to is not None and isinstance(to.this, exp.Table) and definition.relation != ir.NOWHERE:
        yield ir.Write(compile_object_name(context, to.this), definition.relation, "insert", None, by_name=True)


def _compile_engine(
    context: CompileContext, properties: dict[type[exp.Expr], exp.Expr], definition: ir.Definition
) -> Iterator[ir.Write]:
    """ClickHouse: a Distributed table shows the rows of another one, those of a Buffer go there."""
    written = properties.get(exp.EngineProperty)
    call = written.this if written is not None else None
    if not isinstance(call, exp.Anonymous):
        return
    outside = context.traits.table_arguments.get(call.name.upper())  # MySQL(…) is a function, too
    engine = context.traits.table_engines.get(call.name.upper()) or (TableEngine(outside) if outside else None)
    other = compile_table_arguments(context, call.expressions, engine.table) if engine is not None else None
    if engine is None or other is None:
        return
    source, target = (definition.name, other) if engine.passes_on else (other, definition.name)
    items: tuple[ir.Output | ir.Star, ...] = tuple(
        ir.Output(column.name, column.written, ir.Ref((column.name,), ir.NOWHERE, ir.NOWHERE), ir.NOWHERE, ir.NOWHERE)
        for column in definition.columns
    )
    rows = ir.Select((ir.Source("", name=source),), items or (ir.Star((), ir.NOWHERE, ir.NOWHERE),))
    yield ir.Write(target, context.add_relation(rows), "insert", None, by_name=True)


def _is_temporary(context: CompileContext, properties: dict[type[exp.Expr], exp.Expr], name: ir.Name) -> bool:
    """Whether an object ends with the session; in some dialects a global temporary table lasts."""
    if exp.GlobalProperty in properties and context.traits.global_temporary_lasts:
        return False
    marks = (exp.TemporaryProperty, exp.VolatileProperty)
    return any(mark in properties for mark in marks) or name.parts[-1].startswith("#")


def _is_structure_only(context: CompileContext, properties: dict[type[exp.Expr], exp.Expr], body: exp.Expr) -> bool:
    """Whether `CREATE TABLE t AS s` takes the columns of s and not its rows."""
    if not isinstance(body.this, exp.Identifier):
        return False
    data = properties.get(exp.WithDataProperty)
    return context.traits.as_table_is_like or (data is not None and bool(data.args.get("no")))


def _compile_routine(context: CompileContext, tree: exp.Expr, kind: str) -> dict[str, Any]:
    """A procedure, function or trigger as an object."""
    header = tree.this
    table = header.this if isinstance(header, exp.UserDefinedFunction | exp.Schema) else header
    if not isinstance(table, exp.Table):
        return {"kind": f"CREATE {kind}"}
    return {"kind": f"CREATE {kind}", "definition": ir.Definition(compile_object_name(context, table), kind.lower())}


def _compile_columns(
    context: CompileContext, items: list[exp.Expr], partitions: list[exp.Expr]
) -> tuple[ir.ColumnDef, ...]:
    """The columns that a definition lists, partition columns last."""
    own = [
        compile_column_definition(context, item)
        for item in items
        if isinstance(item, exp.ColumnDef) and _is_named_column(item)
    ]
    if len(own) < sum(isinstance(item, exp.ColumnDef) for item in items):
        context.report("UNSUPPORTED_SYNTAX", context.origin, context.end, construct="a column without a name")
    last = (msgspec.structs.replace(compile_column_definition(context, item), partition=True) for item in partitions)
    return (*own, *last)


def _is_named_column(column: exp.Expr) -> bool:
    return not isinstance(column.this, exp.Func)


def _compile_body(context: CompileContext, tree: exp.Expr, body: object) -> int:
    """The relation that fills the new object: a query, or all rows of the cloned object."""
    if isinstance(body, exp.Query | exp.Values | exp.Table):
        return compile_query(context, body)
    clone = tree.args.get("clone")
    if clone is not None and isinstance(clone.this, exp.Table):
        context.features.add("clone")
        name = compile_object_name(context, clone.this)
    elif (path := _view_path(tree)) is not None:
        name = build_external_name(path.name, context.traits, *context.span_of(path))
    else:
        return ir.NOWHERE
    source = ir.Source("", name=name)
    return context.add_relation(ir.Select((source,), (ir.Star((), ir.NOWHERE, ir.NOWHERE),)))


def _view_path(tree: exp.Expr) -> exp.Expr | None:
    """Spark: the file of a view without a query."""
    options = create_properties_of(tree).get(exp.OptionsProperty)
    if options is None or str(tree.args.get("kind") or "").upper() != "VIEW":
        return None
    return next((item.args["value"] for item in options.expressions if item.this.name.lower() == "path"), None)


def _compile_like(
    context: CompileContext, properties: dict[type[exp.Expr], exp.Expr], items: list[exp.Expr]
) -> ir.Name | None:
    """The table whose columns are copied: LIKE, PARTITION OF, or INHERITS."""
    like = properties.get(exp.LikeProperty) or properties.get(exp.PartitionedOfProperty)
    like = like or next((item for item in items if isinstance(item, exp.LikeProperty)), None)
    parents = properties.get(exp.InheritsProperty)
    table = like.this if like is not None else next(iter(parents.expressions), None) if parents is not None else None
    return compile_object_name(context, table) if isinstance(table, exp.Table) else None


_REAL_TYPE = re.compile(r"[\]\"]?\s+\[?real\b", re.IGNORECASE)


def _compile_declared_type(context: CompileContext, node: exp.Expr) -> str:
    """The type of a column; T-SQL: sqlglot reads REAL as FLOAT, which has twice its digits."""
    kind = spell_type(node.args.get("kind"), context.dialect)
    if kind != "FLOAT" or not context.traits.transact_sql:
        return kind
    end = context.name_span(node.args["this"])[1]
    return "REAL" if end >= 0 and _REAL_TYPE.match(context.text, context.origin + end) else kind


def compile_column_definition(context: CompileContext, node: exp.Expr) -> ir.ColumnDef:
    """A declared column with its type and constraints."""
    said = node.args.get("constraints")
    if not said:
        name, kind = node.args["this"], _compile_declared_type(context, node)
        start, end = context.name_span(name)
        nullable = False if is_serial(node) else None
        return ir.ColumnDef(context.column_name(name), name.name, kind, nullable, start=start, end=end)
    kinds: dict[type[exp.Expr], exp.Expr] = {
        type(item.args["kind"]): item.args["kind"] for item in said if isinstance(item, exp.ColumnConstraint)
    }
    generated = _generated_expression(kinds)
    comment, tags = compile_label(kinds.values())
    default = kinds.get(exp.DefaultColumnConstraint)
    identity = _is_identity(kinds) or exp.AutoIncrementColumnConstraint in kinds
    start, end = context.name_span(node.this)
    return ir.ColumnDef(
        name=context.column_name(node.this),
        written=node.this.name,
        type=_compile_declared_type(context, node),
        nullable=False if is_serial(node) else _nullable_of(kinds),
        default=default.this.sql(dialect=context.dialect or None, comments=False) if default is not None else "",
        computed=compile_expression(context, generated) if isinstance(generated, exp.Expr) else None,
        identity=identity,
        comment=comment,
        start=start,
        end=end,
        tags=tags,
    )


def _generated_expression(kinds: dict[type[exp.Expr], exp.Expr]) -> exp.Expr | None:
    """The expression of a generated column; some parsers read GENERATED ALWAYS AS (…) as an identity."""
    computed = kinds.get(exp.ComputedColumnConstraint)
    if computed is not None:
        return computed.this if isinstance(computed.this, exp.Expr) else None
    identity = kinds.get(exp.GeneratedAsIdentityColumnConstraint)
    return identity.args.get("expression") if identity is not None else None


def _is_identity(kinds: dict[type[exp.Expr], exp.Expr]) -> bool:
    return exp.GeneratedAsIdentityColumnConstraint in kinds and _generated_expression(kinds) is None


def _nullable_of(kinds: dict[type[exp.Expr], exp.Expr]) -> bool | None:
    explicit = kinds.get(exp.NotNullColumnConstraint)
    if explicit is not None:
        return bool(explicit.args.get("allow_null"))
    if exp.PrimaryKeyColumnConstraint in kinds or _is_identity(kinds):
        return False
    computed = kinds.get(exp.ComputedColumnConstraint)
    return False if computed is not None and computed.args.get("not_null") else None
