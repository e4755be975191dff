"""Stars and generators of a select list: one item that stands for several columns."""

import re
from collections.abc import Iterator

import msgspec

from lineage_pipeline.dialects.clauses import LENIENT_STARS, MERGED_FIRST, MERGED_IN_PLACE
from lineage_pipeline.dialects.folding import Folding
from lineage_pipeline.dialects.functions import UNNESTED
from lineage_pipeline.engine.link.budget import MANY
from lineage_pipeline.engine.link.flows import ROW, approximated
from lineage_pipeline.engine.link.links import Links
from lineage_pipeline.engine.link.matching import effort
from lineage_pipeline.engine.link.members import element, lettered
from lineage_pipeline.engine.link.model import Opening, Out, Value
from lineage_pipeline.engine.link.scope import Scope
from lineage_pipeline.engine.link.shapes import element_type
from lineage_pipeline.engine.link.source import Source, unexpanded
from lineage_pipeline.engine.link.types import settled
from lineage_pipeline.engine.link.values import PARTS, value_of
from lineage_pipeline.vocabulary import ir


def out_of(output: ir.Output, name: str, value: Value) -> Out:
    """A column of a select list."""
    return Out(name, output.written, value, output.start, output.end, is_approximate(value))


def is_approximate(value: Value) -> bool:
    """Whether a value may come from elsewhere."""
    for flow in value.flows:  # noqa: SIM110 - as `any` over a generator it takes three times as long
        if flow.approximate:
            return True
    return False


def counted(links: Links, star: ir.Star, scope: Scope, openings: list[Opening]) -> Iterator[Out]:
    """The columns that a star stands for, as long as they do not come to too much."""
    for number, column in enumerate(expanded(links, star, scope, openings), 1):
        links.budget.hold(number)
        if len(column.value.flows) > MANY:
            links.budget.turn(len(column.value.flows))
        yield column


def expanded(links: Links, star: ir.Star, scope: Scope, openings: list[Opening]) -> Iterator[Out]:
    """The columns that a star stands for, in order; merged ones come first and once."""
    replaced = {output.name: output for output in star.replace}
    renamed = dict(star.rename)
    ignoring = re.IGNORECASE if links.traits.columns in (Folding.INSENSITIVE, Folding.CAPITAL) else re.NOFLAG
    pattern = re.compile(star.pattern, ignoring) if star.pattern else None
    met = set()
    for name, written, value in _starred(links, star, scope, openings):
        met.add(name)
        if pattern is not None:
            links.budget.foresee(effort(star.pattern, len(name)))
        match = pattern.search(name) if pattern is not None else None
        if name in star.exclude or (pattern is not None and match is None):
            continue
        if name in replaced:
            output = replaced[name]
            yield out_of(output, name, value_of(output.expr, scope, links))
            continue
        shown = _shown(star, renamed.get(name, name), match)
        made = value if star.each is None else _made(links, star.each, scope, value)
        yield Out(shown, written if shown == name else shown, made, star.start, star.end, is_approximate(made))
    named = [name for name in (*star.exclude, *replaced, *renamed) if "." not in name and name not in met]
    if named and links.traits.name not in LENIENT_STARS:
        _report_missing(links, star, scope, named)


def _report_missing(links: Links, star: ir.Star, scope: Scope, names: list[str]) -> None:
    """A star that leaves out, replaces or renames what none of its sources has fails, where all of them are known."""
    sources = _meant(star, scope)
    if not sources or any(one.openings(star) or one.is_vague() or one.makes_anything() for one in sources):
        return
    candidates = ", ".join(source.alias or "a subquery" for source in sources)
    for name in dict.fromkeys(names):
        links.report("UNKNOWN_COLUMN", star.start, star.end, column=name, candidates=candidates)


def _shown(star: ir.Star, name: str, match: re.Match[str] | None) -> str:
    """What a column of a star is called: its name, or what the naming makes of it."""
    if not star.naming:
        return name
    shown = star.naming.replace("{}", name).replace("\\0", name)
    for number, group in enumerate(match.groups() if match is not None else (), 1):
        shown = shown.replace(f"\\{number}", group or "")
    return shown


def _made(links: Links, each: ir.Expr, scope: Scope, value: Value) -> Value:
    """What an expression makes of one column of a star."""
    scope.hole = value
    made = value_of(each, scope, links)
    scope.hole = None
    return made


Starred = tuple[str, str, Value]
"""A column that a star stands for: its name as it is compared and as it is written, and its value."""


def _starred(links: Links, star: ir.Star, scope: Scope, openings: list[Opening]) -> Iterator[Starred]:
    sources = _meant(star, scope)
    if not sources and (star.qualifier or star.of is not None):
        yield from _struct_members(links, star, scope, openings)
        return
    in_place = {} if star.qualifier or links.traits.name not in MERGED_IN_PLACE else dict(scope.merged)
    if not star.qualifier and not in_place:
        for name in scope.merged:
            yield _merged(name, star, scope)
    dotted = {name for name in star.exclude if "." in name}
    for source in sources:
        _report_unknown(links, star, source, openings)
        for position, (name, written) in _ordered(links, star, source):
            if dotted and f"{source.alias}.{name}" in dotted:
                continue
            if in_place.pop(name, None) is not None:
                yield _merged(name, star, scope)
            elif star.qualifier or name not in source.merged:
                value = source.at(position, name, star.start, star.end)
                if source.is_vague():
                    value = msgspec.structs.replace(value, flows=approximated(value.flows))
                members = tuple(lettered(value)) if source.element and position == 0 else ()
                yield from members or ((name, written, _uncertain(links, star, source, value)),)


def _ordered(links: Links, star: ir.Star, source: Source) -> list[tuple[int, tuple[str, str]]]:
    """The columns of a source with their places; in some dialects those come first that a join has merged."""
    found = list(enumerate(zip(source.names(), source.written(), strict=True)))
    if star.qualifier and source.merged and links.traits.family in MERGED_FIRST:
        found.sort(key=lambda item: item[1][0] not in source.merged)
    return found


def _merged(name: str, star: ir.Star, scope: Scope) -> Starred:
    """A column that is merged of several, as the first of them writes it."""
    owners = (side for side in scope.merged[name] if side.has(name))
    written = next((side.written()[side.positions[name]] for side in owners), name)
    return name, written, scope.resolve(ir.Ref((name,), star.start, star.end))


def _meant(star: ir.Star, scope: Scope) -> list[Source]:
    """The sources whose columns a star stands for."""
    if star.of is not None:
        return []
    return scope.sources.answering(star.qualifier) if star.qualifier else scope.sources


def _uncertain(links: Links, star: ir.Star, source: Source, value: Value) -> Value:
    """A column of a star; `e.*` of an element whose members nobody knows stands for more than itself."""
    if not (star.qualifier and source.element and source.makes_anything() and len(source.positions) == 1):
        return value
    links.report("APPROXIMATE_LINEAGE", star.start, star.end, **unexpanded(source.alias))
    return msgspec.structs.replace(value, flows=approximated(value.flows))


def unlisted(links: Links, body: ir.Select, scope: Scope) -> Value | None:
    """What a column is made of that a star stands for and nobody lists, where that is one thing."""
    stars = [output for output in body.outputs if isinstance(output, ir.Star)]
    found = [source.linked.rest for star in stars for source in _meant(star, scope) if source.linked is not None]
    found.extend(_struct(links, star, scope) for star in stars if star.of is not None)
    anything = [value for value in found if value is not None and value.members is None]
    return anything[0] if len(anything) == 1 else None


def _struct(links: Links, star: ir.Star, scope: Scope) -> Value | None:
    if star.of is not None:
        return value_of(star.of, scope, links)
    return scope.lookup(ir.Ref(star.qualifier, star.start, star.end))


def _report_unknown(links: Links, star: ir.Star, source: Source, openings: list[Opening]) -> None:
    for opening in source.openings(star):
        openings.append(opening)
        if source.input is not None:
            known = source.is_vague() and bool(source.input.columns)
            links.report("APPROXIMATE_LINEAGE", star.start, star.end, **unexpanded(opening.object, known))
    if source.makes_anything() and not source.names():
        links.report("APPROXIMATE_LINEAGE", star.start, star.end, **unexpanded(source.alias or "a function"))


def _struct_members(links: Links, star: ir.Star, scope: Scope, openings: list[Opening]) -> Iterator[Starred]:
    """`s.*` of a struct: its members where they are known, else the struct itself, marked as not certain."""
    value = _struct(links, star, scope)
    if value is None:
        links.report("UNRESOLVED_REFERENCE", star.start, star.end, name=".".join(star.qualifier))
        return
    members = tuple(lettered(value))
    rows = [flow for flow in value.flows if flow.column == ROW and flow.keeps]
    if rows:
        openings.extend(Opening(flow.object, star.start, star.end, star.exclude) for flow in rows)
    elif not members:
        links.report("APPROXIMATE_LINEAGE", star.start, star.end, **unexpanded(".".join(star.qualifier) or value.text))
        shown = star.qualifier[-1] if star.qualifier else ""
        yield shown, shown, Value(approximated(value.flows), None, True, value.text)
    yield from members


# ── generators ───────────────────────────────────────────────────────────────────────────────────────────────────

GENERATED = frozenset({"col", ""})
"""What the column of a generator is called as long as its type is not known."""


def several(output: ir.Output, value: Value, scope: Scope, links: Links) -> tuple[Out, ...]:
    """The columns of an item that stands for several where its type tells them: EXPLODE of a map, INLINE, UNNEST."""
    if output.name in GENERATED and value.type == PARTS and value.members is not None:
        return tuple(msgspec.structs.replace(out_of(output, name, item), written=name) for name, item in value.members)
    call = output.expr
    if type(call) is not ir.Call or call.op not in UNNESTED.get(links.traits.family, ()) or not call.args:
        return ()
    whole, deep = value_of(call.args[0], scope, links), len(call.args) > 1
    while deep and (element_type(whole.type or "") is not None):
        whole = element(whole)
    return tuple(
        msgspec.structs.replace(
            out_of(output, name, msgspec.structs.replace(item, type=settled(item.type, scope.typing.family))),
            written=written,
        )
        for name, written, item in _taken_apart(whole, deep)
    )


def _taken_apart(whole: Value, deep: bool) -> Iterator[Starred]:
    """The members of a struct; those of structs inside of it, too, where it is taken apart to the ground."""
    for name, written, item in lettered(whole):
        inner = tuple(_taken_apart(item, deep)) if deep else ()
        yield from inner or ((name, written, item),)
