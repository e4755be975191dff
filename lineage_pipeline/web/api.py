"""The read-only JSON API: a row for each path, its parameters, and an OpenAPI document made of the same rows."""

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from lineage_pipeline import __version__
from lineage_pipeline.vocabulary.errors import LineageError
from lineage_pipeline.web import questions
from lineage_pipeline.web.marts import Marts, Row
from lineage_pipeline.web.neighbourhood import View, drawing, look_around

MOST_STEPS, MOST_ROWS = 5, 1000


class Refusal(LineageError):
    """A request that cannot be answered, and the status that says so."""

    def __init__(self, message: str, status: int) -> None:
        """Say why."""
        super().__init__(message)
        self.status = status


class Parameter(NamedTuple):
    """A parameter of a question: a text, or a number between bounds."""

    name: str
    about: str
    required: bool = False
    bounds: tuple[int, int, int] | None = None


class Question(NamedTuple):
    """A path of the API, what it tells, its parameters, and who answers."""

    about: str
    parameters: tuple[Parameter, ...]
    answer: Callable[[Marts, dict[str, Any]], Any]


SNAPSHOT = Parameter("snapshot", "The snapshot, `<repo>@<commit>`; the newest where none is given.")
LIMIT = Parameter("limit", "How many rows.", bounds=(1, MOST_ROWS, 100))
OFFSET = Parameter("offset", "How many rows to pass over.", bounds=(0, 10_000_000, 0))
OBJECT = Parameter("object", "The object's id.", required=True)


def chosen(marts: Marts, given: str) -> str:
    """Give the snapshot that was asked for, or the newest one."""
    known = [row["snapshot"] for row in questions.snapshots(marts)]
    if not known:
        raise Refusal("there is no snapshot yet; `lineage run` makes one", 404)
    if given and given not in known:
        raise Refusal("there is no such snapshot; /api/snapshots lists them", 404)
    return given or str(known[0])


def _snapshots(marts: Marts, asked: dict[str, Any]) -> Row:
    return questions.page_of(questions.snapshots(marts), asked["limit"], asked["offset"])


def _search(marts: Marts, asked: dict[str, Any]) -> Row:
    snapshot = chosen(marts, asked["snapshot"])
    rows = questions.search(marts, snapshot, asked["q"], asked["limit"] + 1, asked["offset"])
    more = asked["offset"] + asked["limit"] if len(rows) > asked["limit"] else None
    return {"snapshot": snapshot, "items": rows[: asked["limit"]], "next_offset": more}


def _object(marts: Marts, asked: dict[str, Any]) -> Row:
    snapshot = chosen(marts, asked["snapshot"])
    found = questions.one_object(marts, snapshot, asked["object"])
    if found is None:
        raise Refusal("there is no such object in this snapshot", 404)
    return {
        "object": found,
        "columns": questions.columns_of(marts, snapshot, asked["object"]),
        "neighbours": questions.neighbours_of(marts, snapshot, asked["object"]),
        "findings": questions.findings_of(marts, snapshot, asked["object"], found["path"]),
    }


def _neighbourhood(marts: Marts, asked: dict[str, Any]) -> Row:
    snapshot = chosen(marts, asked["snapshot"])
    if questions.one_object(marts, snapshot, asked["object"]) is None:
        raise Refusal("there is no such object in this snapshot", 404)
    around = look_around(marts, View(snapshot, asked["object"], asked["up"], asked["down"]))
    return {"snapshot": snapshot, "cut": around.cut, **drawing(around)}


def _inputs(marts: Marts, asked: dict[str, Any]) -> Row:
    snapshot = chosen(marts, asked["snapshot"])
    return questions.page_of(questions.inputs_of(marts, snapshot, asked["object"]), asked["limit"], asked["offset"])


def _comparisons(marts: Marts, asked: dict[str, Any]) -> Row:
    return questions.page_of(questions.comparisons(marts), asked["limit"], asked["offset"])


def _changes(marts: Marts, asked: dict[str, Any]) -> Row:
    return questions.page_of(questions.changes(marts, asked["base"], asked["head"]), asked["limit"], asked["offset"])


def _health(marts: Marts, asked: dict[str, Any]) -> Row:
    return questions.page_of(questions.health(marts), asked["limit"], asked["offset"])


STEPS = (
    Parameter("up", "How many steps towards the sources.", bounds=(0, MOST_STEPS, 1)),
    Parameter("down", "How many steps towards the readers.", bounds=(0, MOST_STEPS, 1)),
)
ENDS = (
    Parameter("base", "The snapshot that is compared with.", required=True),
    Parameter("head", "The snapshot that is compared.", required=True),
)
QUESTIONS: dict[str, Question] = {
    "/api/snapshots": Question("The snapshots, the newest first.", (LIMIT, OFFSET), _snapshots),
    "/api/search": Question(
        "Objects, columns and files whose names contain all words, or are near.",
        (SNAPSHOT, Parameter("q", "The words.", required=True), LIMIT, OFFSET),
        _search,
    ),
    "/api/object": Question("An object with columns, neighbours and findings.", (SNAPSHOT, OBJECT), _object),
    "/api/lineage": Question("What feeds the columns of an object.", (SNAPSHOT, OBJECT, LIMIT, OFFSET), _inputs),
    "/api/neighbourhood": Question(
        "What stands around an object, laid out to be drawn.", (SNAPSHOT, OBJECT, *STEPS), _neighbourhood
    ),
    "/api/comparisons": Question("Pairs of snapshots that were compared.", (LIMIT, OFFSET), _comparisons),
    "/api/changes": Question("The root changes of a comparison.", (*ENDS, LIMIT, OFFSET), _changes),
    "/api/health": Question("What the analysis could not do, by snapshot.", (LIMIT, OFFSET), _health),
}


def read(parameters: tuple[Parameter, ...], request: Request) -> dict[str, Any]:
    """Read the parameters of a request, or say which is wrong."""
    asked: dict[str, Any] = {}
    for one in parameters:
        given = request.query_params.get(one.name, "")
        if "\0" in given:
            raise Refusal(f"{one.name} must not contain a zero character", 422)
        if one.required and not given:
            raise Refusal(f"{one.name} is needed: {one.about}", 422)
        if one.bounds is None:
            asked[one.name] = given
        elif one.name in request.query_params:
            asked[one.name] = number(one.name, given or "nothing", one.bounds)
        else:
            asked[one.name] = one.bounds[2]
    return asked


def number(name: str, given: str, bounds: tuple[int, int, int]) -> int:
    """Read a number between its bounds; the third of them stands for none."""
    low, high, usual = bounds
    if not given:
        return usual
    if not (given.isascii() and given.isdigit() and low <= int(given[:12]) <= high):
        raise Refusal(f"{name} must be a number from {low} to {high}", 422)
    return int(given)


def _answering(question: Question) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        marts: Marts = request.app.state.marts
        return tagged(request, question.answer(marts, read(question.parameters, request)))

    return answer


def tagged(request: Request, content: Any) -> Response:
    """Answer with JSON and a tag of it; who has it already gets nothing but the tag."""
    body = msgspec.json.encode(content, enc_hook=str)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def document(request: Request) -> Response:
    """Describe the API."""
    return tagged(request, openapi())


def openapi() -> Row:
    """Make the OpenAPI document of the questions."""
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
                "parameters": [_described(one) for one in question.parameters],
                "responses": answers,
            }
        }
        for path, question in QUESTIONS.items()
    }
    return {"openapi": "3.1.0", "info": {"title": "Lineage", "version": __version__}, "paths": paths}


def _described(one: Parameter) -> Row:
    schema: Row = {"type": "string", "minLength": int(one.required), "pattern": "^[^\\u0000]*$"}
    if one.bounds is not None:
        low, high, usual = one.bounds
        schema = {"type": "integer", "minimum": low, "maximum": high, "default": usual}
    return {"name": one.name, "in": "query", "required": one.required, "description": one.about, "schema": schema}


ROUTES: dict[str, Callable[[Request], Response]] = {
    "/api/openapi.json": document,
    **{path: _answering(question) for path, question in QUESTIONS.items()},
}
