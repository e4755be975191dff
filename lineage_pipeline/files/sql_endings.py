"""File endings: which ones SQL is written under, what each one says about the SQL, and which are never SQL.

Endings are compared without case, and the longest one counts: `x.SQL.J2` has the ending `.sql.j2`.
"""

import posixpath
from collections.abc import Iterator
from enum import StrEnum

import msgspec

CERTAIN, LIKELY = 6, 3
"""Weights of an ending as a sign of a dialect, beside those of the words in a file."""


class SqlFileKind(msgspec.Struct, frozen=True):
    """A kind of SQL file: its endings, and what they say."""

    endings: tuple[str, ...]
    holds: str
    """What such a file has in it, for the docs."""
    dialect: str = ""
    """The dialect that the ending suggests."""
    worth: int = 0
    """The weight of that suggestion."""
    templater: str = ""
    """The templater that renders such a file, whatever its text looks like."""
    sniffed: bool = False
    """Whether the ending is also used for other files: then a file is read only if it looks like SQL."""
    rows: bool = False
    """Whether such a file is mostly rows: it says nothing about the dialect of the files around it."""
    zipped: bool = True
    """Whether files that end with `.gz` behind this ending are read, too."""


SQL_FILE_KINDS: tuple[SqlFileKind, ...] = (
    SqlFileKind((".sql",), "SQL"),
    SqlFileKind((".ddl",), "definitions"),
    SqlFileKind((".dml", ".dql", ".view", ".proc", ".sproc", ".sp", ".udf"), "SQL by purpose", sniffed=True),
    SqlFileKind(
        (".sql.j2", ".sql.jinja", ".sql.jinja2", ".j2.sql", ".jinja.sql", ".jinja2.sql"),
        "Jinja templates",
        templater="jinja",
        zipped=False,
    ),
    SqlFileKind((".sql.tmpl", ".sql.tpl", ".sql.template"), "templates of other tools", zipped=False),
    SqlFileKind((".sqlx",), "Dataform", templater="dataform", zipped=False),
    SqlFileKind((".pkb", ".pks", ".plsql"), "PL/SQL: packages", "oracle", CERTAIN),
    # Typst has .typ, playlists have .pls, installers have .pkg, and several databases keep binary files under .tps.
    SqlFileKind(
        (".pck", ".pkg", ".pkh", ".spc", ".bdy", ".tps", ".tpb", ".typ", ".pls", ".plb"),
        "PL/SQL: packages, types and scripts",
        "oracle",
        CERTAIN,
        sniffed=True,
    ),
    # Older tools of SQL Server export under most of these, too, so that words of T-SQL must be able to outweigh them.
    SqlFileKind(
        (".prc", ".fnc", ".vw", ".viw", ".trg", ".mv", ".mvw", ".syn", ".seq", ".tab", ".tbl"),
        "one object each, as Oracle's tools export it",
        "oracle",
        LIKELY,
        sniffed=True,
    ),
    SqlFileKind((".bteq", ".btq"), "BTEQ scripts", "teradata", CERTAIN),
    SqlFileKind((".tpt",), "Teradata Parallel Transporter", "teradata", CERTAIN, sniffed=True),
    SqlFileKind((".psql", ".pgsql"), "PostgreSQL", "postgres", CERTAIN),
    SqlFileKind((".tsql",), "T-SQL", "tsql", CERTAIN),
    SqlFileKind((".sqldataprovider",), "scripts of DNN modules", "tsql", CERTAIN),
    SqlFileKind((".db2",), "Db2", sniffed=True),
    SqlFileKind((".mysql",), "MySQL", "mysql", CERTAIN),
    SqlFileKind((".hql",), "HiveQL", "hive", CERTAIN),
    SqlFileKind((".hive", ".q"), "HiveQL", "hive", LIKELY, sniffed=True),
    SqlFileKind((".bq", ".bqsql"), "BigQuery", "bigquery", LIKELY, sniffed=True),
    SqlFileKind((".snowsql",), "SnowSQL scripts", "snowflake", CERTAIN),
    # pg_dump -Fc, mysqldump and Oracle's exp share these; only the ones in plain text are SQL.
    SqlFileKind((".dump", ".dmp"), "dumps in plain text", sniffed=True, rows=True),
)
"""All kinds of SQL files; `docs/discovery.md` lists them."""

GZIP_ENDING = ".gz"

SHEBANG_DIALECTS = {
    "psql": "postgres",
    "sqlplus": "oracle",
    "mysql": "mysql",
    "mariadb": "mysql",
    "duckdb": "duckdb",
    "sqlite3": "sqlite",
}
"""Programs that a script without an ending may name in its first line, `#!/usr/bin/env psql`, with their dialects."""

UNREADABLE_ARCHIVES = (".bz2", ".xz", ".zst", ".zip", ".7z", ".lz4")
"""Endings of compressed files that are not unpacked."""

OTHER_ENDINGS = frozenset(
    "." + word
    for word in (
        # programs: what they embed is found by their readers, or not at all
        "py pyi pyx ipynb scala sc r rmd java kt kts cs go js mjs cjs jsx ts tsx vue svelte c h cc cpp cxx hh hpp "
        "hxx m mm rb php phtml pl pm t sh bash zsh fish ksh csh ps1 psm1 bat cmd vbs rs swift lua groovy gradle "
        "sbt clj cljs ex exs erl hrl elm hs ml mli fs fsx vb dart jl nim zig asm s f f90 for pas cob cbl tcl awk "
        "sed el lisp scm rkt v sv vhd proto thrift graphql gql wasm cypher sparql rq dax abap st xsl xslt "
        # texts and settings
        "md markdown mdx rst adoc asciidoc tex bib htm html xhtml css scss sass less json jsonl ndjson json5 yml "
        "yaml toml ini cfg conf config properties env editorconfig xml xsd dtd plist lock log diff patch po pot "
        "svg rtf ics vcf csproj sln vcxproj vbproj sqlproj dtproj dtsx rdl ipr iml tf tfvars hcl nix cmake mk mak "
        "make bazel bzl feature gitignore gitattributes gitmodules dockerignore npmrc snap map mod sum pem crt "
        "key pub asc sig "
        # data, pictures and whatever is binary
        "csv tsv psv dat parquet avro orc arrow feather xls xlsx xlsm ods doc docx ppt pptx odt pdf ps eps db "
        "sqlite sqlite3 mdb accdb mdf ldf ndf dbf rdb h5 hdf5 npy npz pkl pickle rds rda sav sas7bdat dta png jpg "
        "jpeg gif ico bmp tif tiff webp psd ai mp3 mp4 m4a wav ogg avi mov mkv webm ttf otf woff woff2 eot zip "
        "tar tgz gz bz2 xz zst 7z rar lz4 jar war ear class so dll dylib exe o a lib obj pyc pyo pyd whl egg gem "
        "rpm deb dmg iso img bin msi swf apk onnx pb pt pth safetensors shp shx prj cpg gpkg pbix twbx twb hyper "
        "qvd qvw qvf qvs "
    ).split()
)
"""Endings that mean something else, so that nobody looks into such files."""

VENDORED_FOLDERS = frozenset(
    (
        ".git .hg .svn .lineage node_modules bower_components jspm_packages .venv venv site-packages "
        "dist-packages __pycache__ .tox .nox .eggs .mypy_cache .pytest_cache .ruff_cache .terraform .gradle .m2 .cargo "
        ".bundle .idea .vscode dbt_packages dbt_modules "
    ).split()
)
"""Folders of other people's files and of tools, in which unread files are nobody's concern."""

KINDS_BY_ENDING = {ending: kind for kind in SQL_FILE_KINDS for ending in kind.endings}


class FileChoice(StrEnum):
    """What the settings say about a file, by its path alone."""

    READ = "read"
    """It is read."""
    IF_SQL = "if_sql"
    """It is read if it looks like SQL."""
    OTHER = "other"
    """Nothing says what it is: it is not read, and reported if it looks like SQL."""
    EXCLUDED_BY_DEFAULT = "excluded_by_default"
    """It is in a folder that is excluded unless the settings say otherwise."""
    LEFT_OUT = "left_out"
    """It is not read, and this is no news to the user."""


def list_read_endings() -> Iterator[str]:
    """Yield the endings of files that are read without a look at their content."""
    for kind in SQL_FILE_KINDS:
        if not kind.sniffed:
            yield from kind.endings
            yield from (ending + GZIP_ENDING for ending in kind.endings if kind.zipped)


def find_file_kind(path: str) -> SqlFileKind | None:
    """Return the kind of SQL file that a path is by its ending, or None."""
    name = posixpath.basename(path).lower()
    inner = name.removesuffix(GZIP_ENDING)
    kind = next((KINDS_BY_ENDING[ending] for ending in _iterate_endings(inner) if ending in KINDS_BY_ENDING), None)
    return kind if kind is None or inner == name or kind.zipped else None


def name_ending(path: str) -> str:
    """Return the ending that people would call a file by: a known one, or all behind the last dot; may be empty."""
    name = posixpath.basename(path).lower()
    inner, last = posixpath.splitext(name)
    packed = last if last in (GZIP_ENDING, *UNREADABLE_ARCHIVES) and find_file_kind(inner) is not None else ""
    plain = name.removesuffix(packed)
    return next((ending for ending in _iterate_endings(plain) if ending in KINDS_BY_ENDING), last) + packed


def _iterate_endings(name: str) -> Iterator[str]:
    """Yield the endings of a name, the longest first; a leading dot begins none."""
    at = name.find(".", 1)
    while at > 0:
        yield name[at:]
        at = name.find(".", at + 1)


def choose_by_ending(path: str) -> FileChoice:
    """Return what becomes of a file that no pattern of the settings names."""
    if (kind := find_file_kind(path)) is not None:
        return FileChoice.IF_SQL if kind.sniffed else FileChoice.READ
    name = posixpath.basename(path)
    if is_archive_of_sql(path):
        return FileChoice.OTHER
    if name.startswith(".") or posixpath.splitext(name)[1].lower() in OTHER_ENDINGS:
        return FileChoice.LEFT_OUT
    return FileChoice.OTHER


def is_archive_of_sql(path: str) -> bool:
    """Return whether a file is SQL in a format that is not unpacked: `dump.sql.zip`."""
    inner, packed = posixpath.splitext(path)
    return packed.lower() in UNREADABLE_ARCHIVES and find_file_kind(inner) is not None
