"""Who answers templates in the place of a database: the adapter, makers of relations and columns, complaints."""

from typing import TYPE_CHECKING, Any

from lineage_pipeline.discover.dbt.relations import Column, Relation
from lineage_pipeline.discover.templating.undefined import placeholder

if TYPE_CHECKING:
    from lineage_pipeline.discover.dbt.session import Session


class RelationStandIn:
    """`api.Relation`: makes relations."""

    def __init__(self, session: "Session") -> None:
        """Take the session."""
        self._session = session

    def create(self, database: Any = "", schema: Any = "", identifier: Any = "", **named: Any) -> Relation:
        """Make one of parts."""
        first, second, third = (str(part or "") for part in (database, schema, identifier))
        quoting = self._session.quoting(named.get("quote_policy"))
        return Relation(self._session.target.adapter, first, second, third, str(named.get("type") or "table"), quoting)


class ColumnStandIn:
    """`api.Column`: makes columns."""

    def __call__(self, *arguments: Any, **named: Any) -> Column:
        """Make one."""
        return Column(*arguments, **named)

    create = __call__

    def translate_type(self, kind: str) -> str:
        """Give a type as it is."""
        return kind


class AdapterStandIn:
    """`adapter`: dispatches macros, quotes names, and knows of the database what the project itself says."""

    def __init__(self, session: "Session", package: str) -> None:
        """Take the session."""
        self._session, self._package = session, package

    def dispatch(self, name: str, macro_namespace: str = "", packages: Any = None) -> Any:
        """Find the macro that the adapter, or else nobody in particular, has under a name."""
        return self._session.dispatched(name, macro_namespace or next(iter(packages or ()), ""), self._package)

    def quote(self, name: str) -> str:
        """Give a name in quotes."""
        mark = self._session.target.adapter.mark
        return f"{mark}{name}{mark}"

    def quote_as_configured(self, name: str, _kind: str = "") -> str:
        """Give a name as it is."""
        return name

    def type(self) -> str:
        """Give the name of the adapter."""
        return self._session.target.adapter.name

    def get_columns_in_relation(self, relation: Any) -> list[Column]:
        """Give the columns of a relation, or one that stands for those of the database."""
        found = self.lineage_columns(relation)
        if not found:
            self._session.asked("adapter.get_columns_in_relation")
        return found or [Column(placeholder("column"))]

    def lineage_columns(self, relation: Any) -> list[Column]:
        """Give the columns of a relation as far as the project tells them."""
        mark = self._session.target.adapter.mark
        return [Column(name, kind, mark=mark) for name, kind in self._session.columns(relation)]

    def get_relation(self, database: Any = "", schema: Any = "", identifier: Any = "", **_named: Any) -> Relation:
        """Give a relation as if it were there."""
        return RelationStandIn(self._session).create(database, schema, identifier)

    def _none(self, *_arguments: Any, **_named: Any) -> list[Any]:
        self._session.asked("adapter")
        return []

    def _silent(self, *_arguments: Any, **_named: Any) -> str:
        return ""

    list_relations = list_relations_without_caching = list_schemas = get_missing_columns = _none
    drop_relation = create_schema = drop_schema = rename_relation = expand_target_column_types = _silent
    truncate_relation = cache_added = cache_dropped = commit = add_query = execute = submit_python_job = _silent

    def check_schema_exists(self, *_arguments: Any) -> bool:
        """Say yes."""
        return True


class Complaints:
    """`exceptions`: a template that gives up is a template that cannot be rendered; a warning is none of ours."""

    def raise_compiler_error(self, message: Any = "", *_arguments: Any) -> str:
        """Give up."""
        raise ValueError(str(message))

    raise_database_error = raise_not_implemented = raise_parsing_error = raise_compiler_error

    def warn(self, *_arguments: Any, **_named: Any) -> str:
        """Print nothing."""
        return ""
