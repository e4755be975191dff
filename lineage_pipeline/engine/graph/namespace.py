"""Namespaces: how written names are completed by defaults and become object ids."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec

from lineage_pipeline.dialects.dialect import DialectTraits
from lineage_pipeline.dialects.generic import GENERIC
from lineage_pipeline.dialects.identifier_folding import IdentifierFolding
from lineage_pipeline.dialects.registry import find_traits
from lineage_pipeline.engine.graph.script_scopes import StatementScope
from lineage_pipeline.model.analysis import Label, Options
from lineage_pipeline.model.plan import StatementInterface

_PLAIN_IDENTIFIERS = {
    IdentifierFolding.LOWER: re.compile(r"[#@]*[a-z_][a-z0-9_$#@]*\Z"),
    IdentifierFolding.INSENSITIVE: re.compile(r"[#@]*[a-z_][a-z0-9_$#@]*\Z"),
    IdentifierFolding.UPPER: re.compile(r"[#@]*[A-Z_][A-Z0-9_$#@]*\Z"),
    IdentifierFolding.CAPITAL: re.compile(r"[#@]*[A-Z_][A-Z0-9_$#@]*\Z"),
    IdentifierFolding.EXACT: re.compile(r"[#@]*[A-Za-z_][A-Za-z0-9_$#@]*\Z"),
}

TEMPORARY_SCHEMAS = frozenset({"", "tempdb", "pg_temp", "temp", "global_temp", "session", "_session"})
"""Schemas under which temporary tables are found by a qualified name."""

NameParts = tuple[str, ...]


def quote_part(part: str, folding: IdentifierFolding) -> str:
    """A part of an object id, quoted where it is no plain identifier of its system."""
    return part if _PLAIN_IDENTIFIERS[folding].match(part) else '"' + part.replace('"', '""') + '"'


@lru_cache(maxsize=65_536)
def render_object_id(parts: NameParts, folding: IdentifierFolding, system: str) -> str:
    """The id of the object with these name parts."""
    shown = ".".join([quote_part(part, folding) for part in parts if part])
    return f"{system}.{shown}" if system else shown


class DefaultSchemaUse(msgspec.Struct, frozen=True):
    """The schema of unqualified names, the objects `named` with it, and those `defined` with or without it."""

    schema: str
    named: set[NameParts]
    defined: set[NameParts]


class Namespace(msgspec.Struct, frozen=True):
    """What completes the names at one point of a script: default catalog and schema, and the search path."""

    traits: DialectTraits
    system: str
    catalog: str
    schema: str
    path: tuple[str, ...]
    implied: bool = True
    labels: tuple[Label, ...] = ()
    usual: DefaultSchemaUse | None = None

    def complete(self, parts: NameParts) -> NameParts:
        """The parts of a name with missing ones filled in from the defaults."""
        if is_address(parts):  # a file or a stage has its whole address
            return parts
        return self._fill_defaults(parts) if self.usual is None else self._complete_with_default(parts, self.usual)

    def _complete_with_default(self, parts: NameParts, usual: DefaultSchemaUse) -> NameParts:
        """The parts of a name that may omit the default schema: as its definition writes it, or with the schema."""
        if len(parts) > 1 and not parts[-2]:
            parts = (*parts[:-2], usual.schema, parts[-1])
        own = self._fill_defaults(parts)
        if own in usual.defined or parts[-1][:1] in ("#", "@"):
            return own
        if len(parts) == 1:
            other = self._fill_defaults((usual.schema, *parts))
            return other if self.catalog or other in usual.named else own
        bare = self._fill_defaults(parts[-1:])
        return bare if len(parts) == 2 and parts[0] == usual.schema and bare in usual.defined else own

    def _fill_defaults(self, parts: NameParts) -> NameParts:
        wanted = len(self.traits.parts)
        if len(parts) >= wanted:
            return tuple(part or self._default(len(parts) - 1 - position) for position, part in enumerate(parts))
        filled = list(parts)
        while len(filled) < wanted:
            default = self._default(len(filled))
            if not default:
                break
            filled.insert(0, default)
        return tuple(part or self._default(len(filled) - 1 - position) for position, part in enumerate(filled))

    def _default(self, rank: int) -> str:
        """The default of the part that many places left of the name."""
        return {1: self.schema, 2: self.catalog}.get(rank, "")

    def candidates(self, parts: NameParts) -> list[NameParts]:
        """What a name may refer to, the likeliest first."""
        found = [self.complete(parts)]
        if len(parts) == 1:
            found.extend(self.complete((schema, *parts)) for schema in self.path)
        return found

    def id(self, parts: NameParts) -> str:
        """The object id of completed name parts."""
        return render_object_id(parts, self.traits.tables, self.system)

    def after(self, context: tuple[str, ...]) -> "Namespace":
        """The namespace after a USE or SET search_path."""
        kind, *parts = context
        if kind == "SEARCH_PATH":
            first = parts[0] if parts else self.schema
            return msgspec.structs.replace(self, schema=first, path=tuple(parts[1:]))
        if not parts:
            return self
        if len(parts) > 1:
            return msgspec.structs.replace(self, catalog=parts[0], schema=parts[1])
        whole = kind == "CATALOG" or (kind != "SCHEMA" and self.traits.uses_catalog)
        if not whole or len(self.traits.parts) == 2:
            return msgspec.structs.replace(self, schema=parts[0])
        return msgspec.structs.replace(self, catalog=parts[0]) if kind in ("", "DATABASE", "CATALOG") else self


def build_namespace(options: Options) -> Namespace:
    """The namespace at the start of a file."""
    traits = find_traits(options.dialect, options.case_sensitivity) or GENERIC
    return Namespace(
        traits=traits,
        system=options.system,
        catalog=fold_default_name(options.default_catalog, traits),
        schema=fold_default_name(options.default_schema, traits),
        path=tuple(fold_default_name(item, traits) for item in options.search_path),
        implied=options.allow_implied,
        labels=options.labels,
    )


def fold_default_name(name: str, traits: DialectTraits) -> str:
    """A name of the settings or of a path as an unquoted identifier."""
    upper = name.upper()
    cases = {IdentifierFolding.UPPER: upper, IdentifierFolding.CAPITAL: upper, IdentifierFolding.EXACT: name}
    return cases.get(traits.tables, name.lower())


def is_address(parts: NameParts) -> bool:
    """Say whether a name is the address of a file, a stage or a program."""
    return "://" in parts[-1]


def split_qualified_name(parts: NameParts) -> Mapping[str, str]:
    """Catalog, schema and name of completed parts; a server name stays with the catalog."""
    *rest, name = parts
    schema = rest.pop() if rest else ""
    return {"catalog": ".".join(rest), "schema": schema, "name": name}


_ID_PART = re.compile(r'"(?:[^"]|"")*"|[^.]+')


def split_object_id(identity: str) -> NameParts:
    """The parts of an object id, with their quotes."""
    return tuple(_ID_PART.findall(identity))


def is_same_suffix(one: NameParts, two: NameParts) -> bool:
    """Say whether the shorter of two names is the end of the longer one."""
    width = min(len(one), len(two))
    return one[-width:] == two[-width:]


def parse_object_id(identity: str, system: str) -> NameParts:
    """The parts of an object id as names, without the system prefix."""
    parts = [part[1:-1].replace('""', '"') if part[0] == '"' else part for part in split_object_id(identity)]
    return tuple(parts[1:] if system and parts[0] == system else parts)


_TEMPORARY_PREFIXES = ("#", "@", "")


def has_implicit_schema(space: Namespace) -> bool:
    """Say whether unqualified names belong to a default schema that no setting names."""
    return bool(space.traits.default_schema) and not space.schema and not space.path


def collect_default_schemas(
    steps: Iterable[tuple[int, StatementInterface, Namespace, StatementScope]],
) -> dict[str, DefaultSchemaUse]:
    """The uses of the default schema, by dialect family: names with and without it mean the same object."""
    found: dict[str, DefaultSchemaUse] = {}
    for _, face, space, _ in steps:
        family = space.traits.family
        usual = found.setdefault(family, DefaultSchemaUse(space.traits.default_schema, set(), set()))
        for name in (*face.writes, *face.reads, *face.calls, *face.alters):
            _add_qualified_name(name.parts, space, usual.named, usual.schema)
        if face.defines is not None:
            _add_qualified_name(face.defines.parts, space, usual.named, usual.schema)
            if len(face.defines.parts) == 1 or face.defines.parts[-2] == usual.schema:
                own = face.defines.parts if not space.catalog else (usual.schema, face.defines.parts[-1])
                usual.defined.add(space.complete(own))
    return found


def _add_qualified_name(parts: NameParts, space: Namespace, named: set[NameParts], schema: str) -> None:
    if len(parts) > 1 and parts[-2] in (schema, "") and parts[-1][:1] not in _TEMPORARY_PREFIXES:
        named.add(space.complete((*parts[:-2], schema, parts[-1])))


def with_default_schema(space: Namespace, known: dict[str, DefaultSchemaUse]) -> Namespace:
    """The namespace with the known uses of its default schema."""
    usual = known.get(space.traits.family) if known and has_implicit_schema(space) else None
    return msgspec.structs.replace(space, usual=usual) if usual is not None else space
