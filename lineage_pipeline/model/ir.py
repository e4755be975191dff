"""The IR: what one source becomes once its text has been compiled, before any schema is known.

A script is a list of statements; a statement is a flat list of relations (scopes) and what is done with them.
Relations name each other by index, so that a CTE used twice is compiled once. Names are folded as the dialect folds
them; positions are characters relative to the start of the statement, so that moving a statement changes nothing.
Every struct is array-like: the order of the fields is the format. Change it together with `IR_VERSION`.
"""

import msgspec

IR_VERSION = 8
"""Raised whenever the layout or the meaning of a field changes; part of every compile key."""

NOWHERE = -1
"""A position, or the index of a relation, that does not exist."""


TRIGGER_ROWS = ("(rows)",)
"""The name of the rows that a trigger passes to its function; the trigger tells which table they belong to."""


ROW_TYPE_FEATURE = "row type"
"""The feature of a statement whose rows have a declared type: its columns get that type's names, by position."""


class Node(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The base of all IR structs."""


class Name(Node, frozen=True):
    """The name of an object: folded parts from catalog to name, what was written last, and its place."""

    parts: tuple[str, ...]
    written: str = ""
    start: int = NOWHERE
    end: int = NOWHERE


# ── expressions ──────────────────────────────────────────────────────────────────────────────────────────────────

AGGREGATE, WINDOWED, MASKING, VOLATILE, GENERATOR, KEEPING = 1, 2, 4, 8, 16, 32
"""Traits of a function, added up in `Call.traits`."""


class Ref(Node, frozen=True, tag="r"):
    """A column as written: folded parts, the last ones perhaps struct fields; only link can tell."""

    parts: tuple[str, ...]
    start: int
    end: int


class Literal(Node, frozen=True, tag="l"):
    """A constant of a class: number, string, boolean, null, date, interval or other.

    Inside a conversion, one that says its type itself: typed (`date '2024-01-31'`) or suffixed (`200S`).
    """

    kind: str
    text: str


class Call(Node, frozen=True, tag="f"):
    """An operator or function: canonical name, arguments, traits, and the result type where it is fixed."""

    op: str
    args: tuple["Expr", ...]
    traits: int = 0
    result: str = ""


class Cast(Node, frozen=True, tag="t"):
    """A conversion; a safe one gives null where it fails."""

    arg: "Expr"
    to: str
    safe: bool = False


class Case(Node, frozen=True, tag="w"):
    """CASE, IF and similar: conditions with values, and the default."""

    whens: tuple[tuple["Expr", "Expr"], ...]
    default: "Expr | None"


class Over(Node, frozen=True, tag="o"):
    """A function over a window."""

    arg: "Expr"
    partition: tuple["Expr", ...]
    order: tuple["Expr", ...]
    frame: str = ""


class Sub(Node, frozen=True, tag="q"):
    """A subquery in an expression: `mode` is scalar, exists, in, array, compare, or rows; `args` stand on its left."""

    mode: str
    relation: int
    args: tuple["Expr", ...] = ()


class Field(Node, frozen=True, tag="p"):
    """A member of a struct, an element of an array or a path into a document; `index` says which element."""

    arg: "Expr"
    path: tuple[str, ...]
    index: str = ""


class Lambda(Node, frozen=True, tag="m"):
    """An anonymous function; its parameters hide columns of the same name."""

    params: tuple[str, ...]
    body: "Expr"


class Variable(Node, frozen=True, tag="v"):
    """A variable or a parameter of the script, with its declared type where that is known."""

    name: str
    start: int
    end: int
    declared: str = ""


class Routine(Node, frozen=True, tag="d"):
    """A function of the user's own by its dotted name, and the call of it as if it were any other."""

    parts: tuple[str, ...]
    call: "Expr"


class Whole(Node, frozen=True, tag="a"):
    """All columns of a source, or of all sources, as one value: COUNT(*), OBJECT_CONSTRUCT(*)."""

    qualifier: tuple[str, ...]
    start: int
    end: int
    exclude: tuple[str, ...] = ()


Expr = Ref | Literal | Call | Cast | Case | Over | Sub | Field | Lambda | Variable | Routine | Whole


# ── relations ────────────────────────────────────────────────────────────────────────────────────────────────────


class Output(Node, frozen=True, tag="o"):
    """One column of a select list: its name (empty when the dialect gives none), and the place of its expression."""

    name: str
    written: str
    expr: Expr
    start: int
    end: int


class Star(Node, frozen=True, tag="s"):
    """A star of a select list, with what is left out, replaced, renamed or matched by a pattern.

    `pattern` is a regular expression that is looked for in a name. `each` is what is made of every column, which
    stands in it as HOLE; `naming` is what the result is called where that is not the name of the column. `of` is the
    value whose members are meant, where that is neither a source nor a column.
    """

    qualifier: tuple[str, ...]
    start: int
    end: int
    exclude: tuple[str, ...] = ()
    replace: tuple[Output, ...] = ()
    rename: tuple[tuple[str, str], ...] = ()
    pattern: str = ""
    each: Expr | None = None
    naming: str = ""
    of: Expr | None = None


STAR_COLUMN = Ref(("*",), NOWHERE, NOWHERE)
"""The current column of a star, inside the expression that is applied to each of them."""


class Join(Node, frozen=True):
    """How a source is joined to those before it; `side` is inner, left, right, full, cross, semi or anti.

    A keyed join finds the row of the table before it that a new row replaces: by `on`, or by the keys that the table
    declares.
    """

    side: str
    on: Expr | None = None
    using: tuple[Ref, ...] = ()
    natural: bool = False


class Source(Node, frozen=True):
    """One item of a FROM clause: a named object, another relation, or a function of expressions.

    `columns` renames the columns by position; `lateral` lets the item see the sources before it. For a function,
    `produces` lists the columns it makes when they are known without a schema, `paths` the way of each into a
    document, `types` what they are declared as, and `position` says that the last one counts the rows. `record` is a
    record or a cursor. `common` marks a relation that is named at the head of the statement, so that it sees no row
    around. `marks` are what else decides about its rows, as text: a sample, a time in the past. `reach` is "alias"
    where a name alone means no column of it, and "last" where it means one only if no other source has it.
    """

    alias: str
    name: Name | None = None
    relation: int = NOWHERE
    function: Expr | None = None
    columns: tuple[str, ...] = ()
    produces: tuple[str, ...] = ()
    join: Join | None = None
    lateral: bool = False
    record: str = ""
    paths: tuple[tuple[str, ...], ...] = ()
    position: bool = False
    common: bool = False
    marks: tuple[tuple[str, str], ...] = ()
    reach: str = ""
    types: tuple[str, ...] = ()


class Select(Node, frozen=True, tag="S"):
    """A select: sources, outputs, and what restricts, groups and orders the rows.

    In a `value_table` the one output is the row: its members are the columns. `partial` are the positions of keys of
    `group` by which only some of the rows are grouped, as ROLLUP does it; `grouping` is how they are bracketed, each
    as a number in braces. Where no limit counts rows, the last word of `order` says which way its keys go.
    """

    sources: tuple[Source, ...]
    outputs: tuple[Output | Star, ...]
    where: Expr | None = None
    group: tuple[Expr, ...] = ()
    group_all: bool = False
    having: Expr | None = None
    qualify: Expr | None = None
    order: tuple[Expr, ...] = ()
    distinct: bool = False
    distinct_on: tuple[Expr, ...] = ()
    limit: str = ""
    grouping: str = ""
    order_all: bool = False
    value_table: bool = False
    partial: tuple[int, ...] = ()


class SetOperation(Node, frozen=True, tag="U"):
    """UNION, INTERSECT or EXCEPT of relations, matched by position or by name.

    By name, `matching` is inner where only columns of all branches are kept, left where only those of the first are;
    `on` lists the columns that are kept.
    """

    op: str
    distinct: bool
    by_name: bool
    branches: tuple[int, ...]
    order: tuple[Expr, ...] = ()
    limit: str = ""
    matching: str = ""
    on: tuple[str, ...] = ()


class Values(Node, frozen=True, tag="V"):
    """Rows of expressions."""

    rows: tuple[tuple[Expr, ...], ...]
    columns: tuple[str, ...] = ()


class Pivot(Node, frozen=True, tag="P"):
    """Rows turned into columns: each output is an aggregate for one value of `keys`; the rest of the input groups.

    Where the values are known only when it runs, `open` has the aggregates. `group` names what groups, if anybody does.
    """

    relation: int
    keys: tuple[Ref, ...]
    outputs: tuple[Output, ...]
    open: tuple[Expr, ...] = ()
    group: tuple[Ref, ...] | None = None


class Unpivot(Node, frozen=True, tag="N"):
    """Columns turned into rows: `values` get the listed inputs group by group, `label` their names.

    Without a list, `every` is the star that says which columns are turned. Rows whose values are all NULL are left
    out, unless `keeps_nulls`.
    """

    relation: int
    values: tuple[str, ...]
    label: str
    inputs: tuple[tuple[Ref, ...], ...]
    every: Star | None = None
    keeps_nulls: bool = False


class Recursive(Node, frozen=True, tag="R"):
    """A recursive CTE: `anchor` gives names and types, `step` reads this relation itself.

    `added` are columns that SEARCH or CYCLE appends: the name of each, its key columns, and whether it holds their
    values or only marks that they recur.
    """

    anchor: int
    step: int
    distinct: bool
    added: tuple[tuple[str, tuple[str, ...], bool], ...] = ()


class Renamed(Node, frozen=True, tag="A"):
    """A relation whose columns get other names by position, as in `WITH c (a, b) AS …`."""

    relation: int
    columns: tuple[str, ...]


Relation = Select | SetOperation | Values | Pivot | Unpivot | Recursive | Renamed


# ── what a statement does ────────────────────────────────────────────────────────────────────────────────────────


class ColumnDef(Node, frozen=True):
    """A column of a CREATE or ALTER TABLE; `nullable` is None where it is not declared.

    A `partition` column stays behind all others, including those that are added later.
    """

    name: str
    written: str
    type: str
    nullable: bool | None = None
    default: str = ""
    computed: Expr | None = None
    identity: bool = False
    comment: str = ""
    start: int = NOWHERE
    end: int = NOWHERE
    partition: bool = False
    tags: tuple[str, ...] = ()


class ConstraintDef(Node, frozen=True):
    """A constraint: primary key, foreign key, unique, check or default."""

    kind: str
    name: str
    columns: tuple[str, ...]
    expression: str = ""
    references: Name | None = None


class Definition(Node, frozen=True):
    """The object that a statement creates: from a column list, from a relation, or like another object.

    `parameters` are those of a module: what is read from one comes from the module, as if it were its column, and what
    is put into one of `outputs` goes there. A trigger `watches` a table, whose rows it sees;
    its `header` is what it calls the rows that a statement changed.
    """

    name: Name
    kind: str
    columns: tuple[ColumnDef, ...] = ()
    constraints: tuple[ConstraintDef, ...] = ()
    relation: int = NOWHERE
    header: tuple[str, ...] = ()
    like: Name | None = None
    temporary: bool = False
    replace: bool = False
    if_absent: bool = False
    comment: str = ""
    parameters: tuple[ColumnDef, ...] = ()
    outputs: tuple[str, ...] = ()
    watches: Name | None = None
    tags: tuple[str, ...] = ()


class Write(Node, frozen=True):
    """Rows of a relation that go into an object: by the column list, or by position where it is None.

    `fixed` are columns that get a constant in addition to the rows; the mode `load` means that a file fills the
    columns. `starts` are the positions of the listed columns, and `rows` is that of the first row of VALUES. `manner`
    is the condition of a MERGE arm, or the action for rows that exist already.
    """

    target: Name
    relation: int
    mode: str
    columns: tuple[str, ...] | None = None
    by_name: bool = False
    conditional: bool = False
    fixed: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()
    rows: int = NOWHERE
    manner: str = ""


class Alteration(Node, frozen=True):
    """A change to an existing object: add, drop, rename, retype, comment, tag, untag, rename table, swap or constraint.

    A comment and tags stand in `definition`; without a column they are those of the object itself.
    """

    name: Name
    action: str
    column: str = ""
    definition: ColumnDef | None = None
    constraint: ConstraintDef | None = None
    to: Name | None = None


DROP_INDEX_ACTION = "release index"
"""The action of a DROP INDEX without a table: `name` is that of the index."""


class Drop(Node, frozen=True):
    """An object that a statement removes."""

    name: Name
    kind: str


class Assignment(Node, frozen=True):
    """Values that a statement puts into variables: the outputs of a relation, by position.

    Every form of every family becomes this one: `SET v = x` is a select of x without sources, `SELECT v = a FROM t` and
    `SELECT a INTO v FROM t` are their selects, a default of a declaration is an assignment. A variable is read where
    an expression has a `Variable` of its name, or a `Ref` that no known column answers to; both fold alike.

    * `row`: the one variable is a record or a cursor and holds all columns. `rec.a` reads one of them; FETCH and FOR
      read a `Source` with that `record`: `FETCH c INTO a, b` is `SELECT * FROM (record c)` into a and b.
    * `declares`: the names are new in the block around the statement and hide those outside; without it a name
      belongs to the module or batch. A declaration without a value has the relation NOWHERE; `types` are declared.
    * without `variables`: a condition, or a query whose result nobody takes; it reads all the same.

    Statements are linked in text order. What happens in a branch (`BRANCHES`) adds to what a variable held before it,
    unless each of its arms (`ARMS`, as statements inside it) assigns; loops (`LOOPS`) feed their own beginning.
    """

    variables: tuple[str, ...]
    relation: int
    row: bool = False
    declares: bool = False
    types: tuple[str, ...] = ()


LOOP_KINDS = frozenset("WHILE LOOP FOR FOREACH REPEAT".split())
"""Kinds of statements that repeat the statements inside them."""

RELAYING_KINDS = frozenset({"EXECUTE"})
"""Kinds of statements that pass the result sets of a called module on to the caller of their own module."""

ARM_KINDS = frozenset("ELSE ELSEIF ELSIF WHEN CATCH EXCEPTION HANDLER".split())
"""Kinds of statements that run instead of what stands before them inside the same parent."""

BRANCH_KINDS = frozenset("IF CASE".split()) | LOOP_KINDS | ARM_KINDS
"""Kinds of statements that may or may not run the statements inside them."""


class Invocation(Node, frozen=True):
    """A procedure or table function that a statement calls.

    For one whose arguments are values, `names` are the parameters that they name ("" by position) and `into` the
    variables that get them back ("" where none does), one each.
    """

    name: Name
    args: tuple[Expr, ...] = ()
    names: tuple[str, ...] = ()
    into: tuple[str, ...] = ()


class Finding(Node, frozen=True):
    """A diagnostic before it has a file: code, the values of its message, and its place in the statement."""

    code: str
    values: tuple[tuple[str, str], ...]
    start: int
    end: int


class Statement(Node, frozen=True):
    """One compiled statement. `result` is the relation of a bare query; `reads` are tables named outside relations.

    `ctes` are the relations that have a name of their own inside the statement, and `dropped` is how many characters
    belong to clauses without bearing on lineage that the parser did not get to see.
    """

    kind: str
    status: str
    relations: tuple[Relation, ...] = ()
    result: int = NOWHERE
    definition: Definition | None = None
    writes: tuple[Write, ...] = ()
    alterations: tuple[Alteration, ...] = ()
    drops: tuple[Drop, ...] = ()
    calls: tuple[Invocation, ...] = ()
    assigns: tuple[Assignment, ...] = ()
    reads: tuple[Name, ...] = ()
    context: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    pragmas: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    complexity: int = 0
    fingerprint: str = ""
    ctes: tuple[tuple[int, Name], ...] = ()
    dropped: int = 0


class Placed(Node, frozen=True):
    """A statement at its position in the script: offsets in characters, and the enclosing block.

    A `quoted` one was found in a string that is executed: it has no bytes of its own, and where it is assembled from
    several strings its position is not `exact`.
    """

    start: int
    end: int
    parent: int
    statement: Statement
    quoted: bool = False
    exact: bool = True


class Script(Node, frozen=True):
    """One compiled source."""

    version: int
    dialect: str
    statements: tuple[Placed, ...]
