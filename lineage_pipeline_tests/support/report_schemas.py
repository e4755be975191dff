"""The schemas of SARIF and of JUnit's XML, written from their specifications and as strict as possible."""

import xml.etree.ElementTree as ET
from typing import Any, NamedTuple

# ── SARIF 2.1.0 (OASIS standard, section 3): the objects that we write, and nothing that it does not know ─────────

TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 1}


def object_schema(required: str = "", **properties: Any) -> dict[str, Any]:
    """The JSON Schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def array_schema(items: Any, **other: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **other}


BAG = {"type": "object", "properties": {"tags": array_schema(TEXT, uniqueItems=True)}}  # 3.8
MESSAGE = object_schema("text", text=TEXT, markdown=TEXT)  # 3.11, 3.12
LEVEL = {"enum": ["none", "note", "warning", "error"]}  # 3.27.10
ARTIFACT = object_schema(uri={"type": "string", "format": "uri-reference"}, uriBaseId=TEXT, description=MESSAGE)  # 3.4
PHYSICAL = object_schema(
    "artifactLocation", artifactLocation=ARTIFACT, region=object_schema(startLine=COUNT)
)  # 3.29, 3.30
LOGICAL = object_schema(fullyQualifiedName=TEXT, kind=TEXT)  # 3.33
LOCATION = object_schema(
    id={"type": "integer", "minimum": 0},
    physicalLocation=PHYSICAL,
    logicalLocations=array_schema(LOGICAL, uniqueItems=True),
    message=MESSAGE,
)  # 3.28
RULE = object_schema(
    "id",
    id=TEXT,
    name=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=object_schema(level=LEVEL),
    properties=BAG,
)  # 3.49
RESULT = object_schema(
    "message",
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations=array_schema(LOCATION),
    relatedLocations=array_schema(LOCATION, uniqueItems=True),
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
    suppressions=array_schema(
        object_schema(
            "kind",
            kind={"enum": ["inSource", "external"]},
            status={"enum": ["accepted", "underReview", "rejected"]},
            justification=TEXT,
        ),
        uniqueItems=True,
    ),
    properties=BAG,
)  # 3.27, 3.35
NOTIFICATION = object_schema(
    "message",
    descriptor=object_schema(id=TEXT),
    level=LEVEL,
    message=MESSAGE,
    locations=array_schema(LOCATION, uniqueItems=True),
)  # 3.58
INVOCATION = object_schema(
    "executionSuccessful",
    executionSuccessful={"type": "boolean"},
    toolExecutionNotifications=array_schema(NOTIFICATION),
)  # 3.20
RUN = object_schema(
    "tool",
    tool=object_schema(
        "driver",
        driver=object_schema("name", name=TEXT, semanticVersion=TEXT, rules=array_schema(RULE, uniqueItems=True)),
    ),
    invocations=array_schema(INVOCATION),
    originalUriBaseIds={"type": "object", "additionalProperties": ARTIFACT},
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=array_schema(RESULT),
    properties=BAG,
)  # 3.14, 3.18, 3.19
SARIF = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **object_schema("version runs", **{"$schema": TEXT}, version={"const": "2.1.0"}, runs=array_schema(RUN)),
}  # 3.13

# ── JUnit's XML, as Jenkins, GitLab and GitHub's actions read it ─────────────────────────────────────────────────


class ElementShape(NamedTuple):
    """What an element may hold: required attributes, optional ones, and child elements."""

    required: str
    optional: str = ""
    inside: str = ""
    text: bool = False


COUNTS = "tests failures errors skipped time"
JUNIT = {
    "testsuites": ElementShape("", f"name {COUNTS}", "testsuite"),
    "testsuite": ElementShape("name tests", COUNTS + " hostname id package timestamp", "testcase"),
    "testcase": ElementShape("name classname", "time file line", "skipped error failure system-out system-err"),
    "failure": ElementShape("", "type message", "", True),
    "skipped": ElementShape("", "type message", "", True),
    "system-out": ElementShape("", "", "", True),
}


def find_junit_faults(element: ET.Element, shapes: dict[str, ElementShape]) -> list[str]:
    """Everything about an element that the de-facto schema does not allow."""
    shape = shapes[element.tag]
    names = set(element.attrib)
    faults = [f"{element.tag} lacks {name}" for name in set(shape.required.split()) - names]
    faults += [f"{element.tag} has {name}" for name in names - set(f"{shape.required} {shape.optional}".split())]
    faults += [f"{element.tag} holds text" for _ in [0] if not shape.text and (element.text or "").strip()]
    for name in set(COUNTS.split()) & names:
        if not element.attrib[name].isdigit():
            faults.append(f"{name} of {element.tag} is not a number")
    for child in element:
        if child.tag not in shape.inside.split():
            faults.append(f"{child.tag} in {element.tag}")
        else:
            faults += find_junit_faults(child, shapes)
    counted = [child.tag for case in element for child in case] if element.tag == "testsuite" else []
    for attribute, tag in (("failures", "failure"), ("skipped", "skipped")) if element.tag == "testsuite" else ():
        if int(element.attrib[attribute]) != counted.count(tag):
            faults.append(f"{attribute} is not the number of elements")
    return faults
