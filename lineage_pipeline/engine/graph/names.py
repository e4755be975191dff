"""Names: how written parts become the id of an object."""

import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from lineage_pipeline.dialects.folding import Folding
from lineage_pipeline.dialects.traits import GENERIC, Traits, traits_of
from lineage_pipeline.vocabulary.analysis import Label, Options

_PLAIN = {
    Folding.LOWER: re.compile(r"[#@]*[a-z_][a-z0-9_$#@]*\Z"),
    Folding.INSENSITIVE: re.compile(r"[#@]*[a-z_][a-z0-9_$#@]*\Z"),
    Folding.UPPER: re.compile(r"[#@]*[A-Z_][A-Z0-9_$#@]*\Z"),
    Folding.CAPITAL: re.compile(r"[#@]*[A-Z_][A-Z0-9_$#@]*\Z"),
    Folding.EXACT: re.compile(r"[#@]*[A-Za-z_][A-Za-z0-9_$#@]*\Z"),
}

TEMPORARY_SCHEMAS = frozenset({"", "tempdb", "pg_temp", "temp", "global_temp", "session", "_session"})
"""Where temporary objects are found under a qualified name."""

Parts = tuple[str, ...]


def quote(part: str, folding: Folding) -> str:
    """A part of an id, in quotes where it is no plain identifier of its system."""
    return part if _PLAIN[folding].match(part) else '"' + part.replace('"', '""') + '"'


@lru_cache(maxsize=65_536)
def render(parts: Parts, folding: Folding, system: str) -> str:
    """The id of the object with these parts; the same few names are asked for again and again."""
    shown = ".".join([quote(part, folding) for part in parts if part])
    return f"{system}.{shown}" if system else shown


class Usual(msgspec.Struct, frozen=True):
    """The schema of names that say none, the objects `named` with it, and those that are `defined` with or without."""

    schema: str
    named: set[Parts]
    defined: set[Parts]


class Namespace(msgspec.Struct, frozen=True):
    """What completes the names at one point of a script."""

    traits: Traits
    system: str
    catalog: str
    schema: str
    path: tuple[str, ...]
    implied: bool = True
    labels: tuple[Label, ...] = ()
    usual: Usual | None = None

    def complete(self, parts: Parts) -> Parts:
        """The parts of a name with what is missing filled in from the defaults."""
        if is_outside(parts):  # a file or a stage has its whole address
            return parts
        return self._filled(parts) if self.usual is None else self._usually(parts, self.usual)

    def _usually(self, parts: Parts, usual: Usual) -> Parts:
        """The parts of a name where the usual schema may be left out: as the definition says it, or with it."""
        if len(parts) > 1 and not parts[-2]:
            parts = (*parts[:-2], usual.schema, parts[-1])
        own = self._filled(parts)
        if own in usual.defined or parts[-1][:1] in ("#", "@"):
            return own
        if len(parts) == 1:
            other = self._filled((usual.schema, *parts))
            return other if self.catalog or other in usual.named else own
        bare = self._filled(parts[-1:])
        return bare if len(parts) == 2 and parts[0] == usual.schema and bare in usual.defined else own

    def _filled(self, parts: Parts) -> Parts:
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

    def candidates(self, parts: Parts) -> list[Parts]:
        """What a name may stand for, the likeliest first."""
        found = [self.complete(parts)]
        if len(parts) == 1:
            found.extend(self.complete((schema, *parts)) for schema in self.path)
        return found

    def id(self, parts: Parts) -> str:
        """The id of an object by its completed parts."""
        return render(parts, self.traits.tables, self.system)

    def after(self, context: tuple[str, ...]) -> "Namespace":
        """What completes names behind a USE or SET search_path."""
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


def namespace(options: Options) -> Namespace:
    """What completes names at the start of a file."""
    traits = traits_of(options.dialect, options.case_sensitivity) or GENERIC
    return Namespace(
        traits,
        options.system,
        _folded(options.default_catalog, traits),
        _folded(options.default_schema, traits),
        tuple(_folded(item, traits) for item in options.search_path),
        options.allow_implied,
        options.labels,
    )


def _folded(name: str, traits: Traits) -> str:
    upper = name.upper()
    cases = {Folding.UPPER: upper, Folding.CAPITAL: upper, Folding.EXACT: name}
    return cases.get(traits.tables, name.lower())


def is_outside(parts: Parts) -> bool:
    """Whether a name is the address of a file, a stage or a program."""
    return "://" in parts[-1]


def split_parts(parts: Parts) -> Mapping[str, str]:
    """Catalog, schema and name of completed parts; a server before the catalog stays with it."""
    *rest, name = parts
    schema = rest.pop() if rest else ""
    return {"catalog": ".".join(rest), "schema": schema, "name": name}


_ID_PART = re.compile(r'"(?:[^"]|"")*"|[^.]+')


def split_id(identity: str) -> Parts:
    """The parts of an id, quotes and all."""
    return tuple(_ID_PART.findall(identity))


def ends_alike(one: Parts, two: Parts) -> bool:
    """Whether the shorter of two names is the end of the longer one."""
    width = min(len(one), len(two))
    return one[-width:] == two[-width:]


def id_parts(identity: str, system: str) -> Parts:
    """The parts of an id as names, without the system before them."""
    parts = [part[1:-1].replace('""', '"') if part[0] == '"' else part for part in split_id(identity)]
    return tuple(parts[1:] if system and parts[0] == system else parts)
