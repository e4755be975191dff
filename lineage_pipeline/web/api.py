"""The read-only JSON API: a row for each path with its parameters, and an OpenAPI document built from the same rows."""

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from lineage_pipeline import __version__
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline.web import mart_queries
from lineage_pipeline.web.marts import Marts, Row
from lineage_pipeline.web.neighborhood import NeighborhoodView, build_drawing, find_neighborhood

MOST_STEPS, MOST_ROWS = 5, 1000


class RequestError(LineageError):
    """A request that cannot be answered, and its HTTP status."""

    def __init__(self, message: str, status: int) -> None:
        """Store the message and the status."""
        super().__init__(message)
        self.status = status


class QueryParameter(NamedTuple):
    """A query parameter: a text, or a number between bounds."""

    name: str
    about: str
    required: bool = False
    bounds: tuple[int, int, int] | None = None


class ApiQuery(NamedTuple):
    """A path of the API: its description, its parameters, and the function that answers."""

    about: str
    parameters: tuple[QueryParameter, ...]
    answer: Callable[[Marts, dict[str, Any]], Any]


SNAPSHOT_PARAMETER = QueryParameter("snapshot", "The snapshot, `<repo>@<commit>`; the newest where none is given.")
LIMIT_PARAMETER = QueryParameter("limit", "How many rows.", bounds=(1, MOST_ROWS, 100))
OFFSET_PARAMETER = QueryParameter("offset", "How many rows to pass over.", bounds=(0, 10_000_000, 0))
OBJECT_PARAMETER = QueryParameter("object", "The object's id.", required=True)


def choose_snapshot(marts: Marts, given: str) -> str:
    """Return the requested snapshot, or the newest one."""
    known = [row["snapshot"] for row in mart_queries.list_snapshots(marts)]
    if not known:
        raise RequestError("there is no snapshot yet; `lineage run` makes one", 404)
    if given and given not in known:
        raise RequestError("there is no such snapshot; /api/snapshots lists them", 404)
    return given or str(known[0])


def _answer_snapshots(marts: Marts, asked: dict[str, Any]) -> Row:
    return mart_queries.paginate(mart_queries.list_snapshots(marts), asked["limit"], asked["offset"])


def _answer_search(marts: Marts, asked: dict[str, Any]) -> Row:
    snapshot = choose_snapshot(marts, asked["snapshot"])
    rows = mart_queries.search_marts(marts, snapshot, asked["q"], asked["limit"] + 1, asked["offset"])
    more = asked["offset"] + asked["limit"] if len(rows) > asked["limit"] else None
    return {"snapshot": snapshot, "items": rows[: asked["limit"]], "next_offset": more}


def _answer_object(marts: Marts, asked: dict[str, Any]) -> Row:
    snapshot = choose_snapshot(marts, asked["snapshot"])
    found = mart_queries.get_object(marts, snapshot, asked["object"])
    if found is None:
        raise RequestError("there is no such object in this snapshot", 404)
    return {
        "object": found,
        "columns": mart_queries.list_columns(marts, snapshot, asked["object"]),
        "neighbours": mart_queries.list_neighbors(marts, snapshot, asked["object"]),
        "findings": mart_queries.list_object_findings(marts, snapshot, asked["object"], found["path"]),
    }


def _answer_neighborhood(marts: Marts, asked: dict[str, Any]) -> Row:
    snapshot = choose_snapshot(marts, asked["snapshot"])
    if mart_queries.get_object(marts, snapshot, asked["object"]) is None:
        raise RequestError("there is no such object in this snapshot", 404)
    around = find_neighborhood(marts, NeighborhoodView(snapshot, asked["object"], asked["up"], asked["down"]))
    return {"snapshot": snapshot, "cut": around.cut, **build_drawing(around)}


def _answer_inputs(marts: Marts, asked: dict[str, Any]) -> Row:
    snapshot = choose_snapshot(marts, asked["snapshot"])
    return mart_queries.paginate(
        mart_queries.list_inputs(marts, snapshot, asked["object"]), asked["limit"], asked["offset"]
    )


def _answer_comparisons(marts: Marts, asked: dict[str, Any]) -> Row:
    return mart_queries.paginate(mart_queries.list_comparisons(marts), asked["limit"], asked["offset"])


def _answer_changes(marts: Marts, asked: dict[str, Any]) -> Row:
    return mart_queries.paginate(
        mart_queries.list_changes(marts, asked["base"], asked["head"]), asked["limit"], asked["offset"]
    )


def _answer_health(marts: Marts, asked: dict[str, Any]) -> Row:
    return mart_queries.paginate(mart_queries.list_health(marts), asked["limit"], asked["offset"])


STEP_PARAMETERS = (
    QueryParameter("up", "How many steps towards the sources.", bounds=(0, MOST_STEPS, 1)),
    QueryParameter("down", "How many steps towards the readers.", bounds=(0, MOST_STEPS, 1)),
)
COMPARISON_PARAMETERS = (
    QueryParameter("base", "The snapshot that is compared with.", required=True),
    QueryParameter("head", "The snapshot that is compared.", required=True),
)
API_QUERIES: dict[str, ApiQuery] = {
    "/api/snapshots": ApiQuery(
        "The snapshots, the newest first.", (LIMIT_PARAMETER, OFFSET_PARAMETER), _answer_snapshots
    ),
    "/api/search": ApiQuery(
        "Objects, columns and files whose names contain all words, or are near.",
        (SNAPSHOT_PARAMETER, QueryParameter("q", "The words.", required=True), LIMIT_PARAMETER, OFFSET_PARAMETER),
        _answer_search,
    ),
    "/api/object": ApiQuery(
        "An object with columns, neighbors and findings.", (SNAPSHOT_PARAMETER, OBJECT_PARAMETER), _answer_object
    ),
    "/api/lineage": ApiQuery(
        "What feeds the columns of an object.",
        (SNAPSHOT_PARAMETER, OBJECT_PARAMETER, LIMIT_PARAMETER, OFFSET_PARAMETER),
        _answer_inputs,
    ),
    "/api/neighbourhood": ApiQuery(
        "What stands around an object, laid out to be drawn.",
        (SNAPSHOT_PARAMETER, OBJECT_PARAMETER, *STEP_PARAMETERS),
        _answer_neighborhood,
    ),
    "/api/comparisons": ApiQuery(
        "Pairs of snapshots that were compared.", (LIMIT_PARAMETER, OFFSET_PARAMETER), _answer_comparisons
    ),
    "/api/changes": ApiQuery(
        "The root changes of a comparison.",
        (*COMPARISON_PARAMETERS, LIMIT_PARAMETER, OFFSET_PARAMETER),
        _answer_changes,
    ),
    "/api/health": ApiQuery(
        "What the analysis could not do, by snapshot.", (LIMIT_PARAMETER, OFFSET_PARAMETER), _answer_health
    ),
}


def read_parameters(parameters: tuple[QueryParameter, ...], request: Request) -> dict[str, Any]:
    """Read the parameters of a request, or raise an error that names the wrong one."""
    asked: dict[str, Any] = {}
    for one in parameters:
        given = request.query_params.get(one.name, "")
        if "\0" in given:
            raise RequestError(f"{one.name} must not contain a zero character", 422)
        if one.required and not given:
            raise RequestError(f"{one.name} is needed: {one.about}", 422)
        if one.bounds is None:
            asked[one.name] = given
        elif one.name in request.query_params:
            asked[one.name] = parse_number(one.name, given or "nothing", one.bounds)
        else:
            asked[one.name] = one.bounds[2]
    return asked


def parse_number(name: str, given: str, bounds: tuple[int, int, int]) -> int:
    """Parse a number between bounds; the third of them is the default."""
    low, high, usual = bounds
    if not given:
        return usual
    if not (given.isascii() and given.isdigit() and low <= int(given[:12]) <= high):
        raise RequestError(f"{name} must be a number from {low} to {high}", 422)
    return int(given)


def _build_handler(question: ApiQuery) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        marts: Marts = request.app.state.marts
        return respond_json(request, question.answer(marts, read_parameters(question.parameters, request)))

    return answer


def respond_json(request: Request, content: Any) -> Response:
    """Respond with JSON and its ETag, or 304 where the client has it already."""
    body = msgspec.json.encode(content, enc_hook=str)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def serve_openapi(request: Request) -> Response:
    """Respond with the OpenAPI document."""
    return respond_json(request, build_openapi())


def build_openapi() -> Row:
    """Build the OpenAPI document of the API."""
    failure = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    failed = {"content": {"application/json": {"schema": failure}}}
    answers = {
        "200": {"description": "The answer.", "content": {"application/json": {"schema": {"type": "object"}}}},
        "304": {"description": "It is what the tag says."},
        "404": {"description": "There is no such thing.", **failed},
        "422": {"description": "A parameter is wrong.", **failed},
        "503": {"description": "There are no marts.", **failed},
    }
    paths = {
        path: {
            "get": {
                "operationId": path.removeprefix("/api/"),
                "summary": question.about,
                "parameters": [_describe_parameter(one) for one in question.parameters],
                "responses": answers,
            }
        }
        for path, question in API_QUERIES.items()
    }
    return {"openapi": "3.1.0", "info": {"title": "Lineage", "version": __version__}, "paths": paths}


def _describe_parameter(one: QueryParameter) -> Row:
    schema: Row = {"type": "string", "minLength": int(one.required), "pattern": "^[^\\u0000]*$"}
    if one.bounds is not None:
        low, high, usual = one.bounds
        schema = {"type": "integer", "minimum": low, "maximum": high, "default": usual}
    return {"name": one.name, "in": "query", "required": one.required, "description": one.about, "schema": schema}


API_ROUTES: dict[str, Callable[[Request], Response]] = {
    "/api/openapi.json": serve_openapi,
    **{path: _build_handler(question) for path, question in API_QUERIES.items()},
}
