"""What others say their formats are, written from their specifications and as strict as we can be."""

import xml.etree.ElementTree as ET
from typing import Any, NamedTuple

# ── SARIF 2.1.0 (OASIS standard, section 3): the objects that we write, and nothing that it does not know ─────────

TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 1}


def record(required: str = "", **properties: Any) -> dict[str, Any]:
    """An object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def listed(items: Any, **other: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **other}


BAG = {"type": "object", "properties": {"tags": listed(TEXT, uniqueItems=True)}}  # 3.8
MESSAGE = record("text", text=TEXT, markdown=TEXT)  # 3.11, 3.12
LEVEL = {"enum": ["none", "note", "warning", "error"]}  # 3.27.10
ARTIFACT = record(uri={"type": "string", "format": "uri-reference"}, uriBaseId=TEXT, description=MESSAGE)  # 3.4
PHYSICAL = record("artifactLocation", artifactLocation=ARTIFACT, region=record(startLine=COUNT))  # 3.29, 3.30
LOGICAL = record(fullyQualifiedName=TEXT, kind=TEXT)  # 3.33
LOCATION = record(
    id={"type": "integer", "minimum": 0},
    physicalLocation=PHYSICAL,
    logicalLocations=listed(LOGICAL, uniqueItems=True),
    message=MESSAGE,
)  # 3.28
RULE = record(
    "id",
    id=TEXT,
    name=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    help=MESSAGE,
    defaultConfiguration=record(level=LEVEL),
    properties=BAG,
)  # 3.49
RESULT = record(
    "message",
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations=listed(LOCATION),
    relatedLocations=listed(LOCATION, uniqueItems=True),
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
    suppressions=listed(
        record(
            "kind",
            kind={"enum": ["inSource", "external"]},
            status={"enum": ["accepted", "underReview", "rejected"]},
            justification=TEXT,
        ),
        uniqueItems=True,
    ),
    properties=BAG,
)  # 3.27, 3.35
NOTIFICATION = record(
    "message", descriptor=record(id=TEXT), level=LEVEL, message=MESSAGE, locations=listed(LOCATION, uniqueItems=True)
)  # 3.58
INVOCATION = record(
    "executionSuccessful", executionSuccessful={"type": "boolean"}, toolExecutionNotifications=listed(NOTIFICATION)
)  # 3.20
RUN = record(
    "tool",
    tool=record("driver", driver=record("name", name=TEXT, semanticVersion=TEXT, rules=listed(RULE, uniqueItems=True))),
    invocations=listed(INVOCATION),
    originalUriBaseIds={"type": "object", "additionalProperties": ARTIFACT},
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=listed(RESULT),
    properties=BAG,
)  # 3.14, 3.18, 3.19
SARIF = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **record("version runs", **{"$schema": TEXT}, version={"const": "2.1.0"}, runs=listed(RUN)),
}  # 3.13

# ── JUnit's XML, as Jenkins, GitLab and GitHub's actions read it ─────────────────────────────────────────────────


class Element(NamedTuple):
    """What an element may hold: attributes that it must have, further ones, and elements inside."""

    required: str
    optional: str = ""
    inside: str = ""
    text: bool = False


COUNTS = "tests failures errors skipped time"
JUNIT = {
    "testsuites": Element("", f"name {COUNTS}", "testsuite"),
    "testsuite": Element("name tests", COUNTS + " hostname id package timestamp", "testcase"),
    "testcase": Element("name classname", "time file line", "skipped error failure system-out system-err"),
    "failure": Element("", "type message", "", True),
    "skipped": Element("", "type message", "", True),
    "system-out": Element("", "", "", True),
}


def junit_faults(element: ET.Element, shapes: dict[str, Element]) -> list[str]:
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
            faults += junit_faults(child, shapes)
    counted = [child.tag for case in element for child in case] if element.tag == "testsuite" else []
    for attribute, tag in (("failures", "failure"), ("skipped", "skipped")) if element.tag == "testsuite" else ():
        if int(element.attrib[attribute]) != counted.count(tag):
            faults.append(f"{attribute} is not the number of elements")
    return faults
