"""Alerts report each failure once to the right receivers, and its recovery; none is lost on the way."""

import json
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lineage_pipeline.alerts.alert import Alert, AlertKind, AlertState, CheckEvaluation, judge_evaluations
from lineage_pipeline.alerts.outbox import DeliveryOutcome, Outbox, OutboxState, deliver_due, queue_alerts
from lineage_pipeline.alerts.sinks import (
    SinkContext,
    SinkRefusal,
    format_document,
    format_log_line,
    format_mail,
    format_slack,
    format_title,
    mail_recipients,
    select_sinks,
    send_alert,
)
from lineage_pipeline.config.load import load_settings
from lineage_pipeline.model.alerting import AlertSeverity, RetryPolicy, SinkOptions
from lineage_pipeline.model.errors import LineageError
from lineage_pipeline_tests.support.alert_receivers import HttpReceiver, MailReceiver, run_server
from lineage_pipeline_tests.support.paths import ROOT

FAILED_EVALUATION = CheckEvaluation(
    storage_id=1,
    asset="lineage/changes",
    check="no_breaking_changes",
    partition="shop@1",
    thread="shop:refs/heads/main",
    repository="shop",
    passed=False,
    fingerprint="f1",
    description="1 breaking",
    findings="| severity |\n|---|\n| breaking |",
    owners=("@core", "sales@example.org"),
    run="r1",
    at=1_794_800_000.0,
)
HOSTILE_TEXT = "a\r\nBcc: x@evil.example\r\n\r\n<!channel> *b* `c` <https://evil.example|click> \x1b[31m \u202e | &"
SECRET = "T0PS3CRET"
QUICK_PATIENCE = RetryPolicy(timeout=2, pause=30, longest=3600, budget=20, days=7)


def make_evaluation(storage_id: int, **fields: Any) -> CheckEvaluation:
    return msgspec.structs.replace(
        FAILED_EVALUATION, storage_id=storage_id, at=FAILED_EVALUATION.at + storage_id, **fields
    )


def make_alert(**fields: Any) -> Alert:
    (alert,) = judge_evaluations(AlertState(), [FAILED_EVALUATION])[1]
    return msgspec.structs.replace(alert, **fields)


STORIES: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "the same failure is told once": ([{}, {}, {}], ["failed shop@1"]),
    "what passes from the start is not told": ([{"passed": True}], []),
    "a recovery is told once": (
        [{}, {"passed": True}, {"passed": True}],
        ["failed shop@1", "recovered shop@1"],
    ),
    "another finding is told": ([{}, {"fingerprint": "f2"}], ["failed shop@1", "failed shop@1"]),
    "findings that come back without a recovery are known": ([{}, {"fingerprint": "f2"}, {}], ["failed shop@1"] * 2),
    "a failure after a recovery is a new one": (
        [{}, {"passed": True}, {}],
        ["failed shop@1", "recovered shop@1", "failed shop@1"],
    ),
    "a warning that becomes an error is told": (
        [{"gravity": AlertSeverity.WARN}, {"fingerprint": "f2"}],
        ["failed shop@1", "failed shop@1"],
    ),
    "the next commit of a branch with the same findings says nothing new": (
        [{}, {"partition": "shop@2"}],
        ["failed shop@1"],
    ),
    "the next commit of a branch takes back what the last one broke": (
        [{}, {"partition": "shop@2", "passed": True}],
        ["failed shop@1", "recovered shop@2"],
    ),
    "another branch has alerts of its own": (
        [{}, {"thread": "shop:refs/heads/work", "partition": "shop@2"}, {"thread": "other", "passed": True}],
        ["failed shop@1", "failed shop@2"],
    ),
    "without a branch every partition has alerts of its own": (
        [{"thread": ""}, {"thread": "", "partition": "shop@2"}, {"thread": "", "partition": "shop@2", "passed": True}],
        ["failed shop@1", "failed shop@2", "recovered shop@2"],
    ),
    "a warning that becomes an error is told, though the same is wrong": (
        [{"gravity": AlertSeverity.WARN}, {}, {}],
        ["failed shop@1", "failed shop@1"],
    ),
    "what fails, passes in a later commit and fails again where it was is told": (
        [{}, {"partition": "shop@2", "passed": True}, {}],
        ["failed shop@1", "recovered shop@2", "failed shop@1"],
    ),
    "a snapshot made again by hand takes back what it told on its branch": (
        [{}, {"thread": "", "passed": True}, {"thread": "", "passed": True}],
        ["failed shop@1", "recovered shop@1"],
    ),
    "a snapshot made again by hand that still fails says nothing new, and its branch takes it back": (
        [{}, {"thread": "shop@1"}, {"partition": "shop@2", "passed": True}],
        ["failed shop@1", "recovered shop@2"],
    ),
    "what is past is told to nobody": (
        [{"past": True, "thread": ""}, {"past": True, "thread": "", "passed": True}],
        [],
    ),
    "what is past takes back what was told of it": (
        [{}, {"past": True, "thread": "", "passed": True}],
        ["failed shop@1", "recovered shop@1"],
    ),
    "two checks do not hide each other": ([{}, {"check": "parse_success"}], ["failed shop@1", "failed shop@1"]),
}


@pytest.mark.parametrize("story", STORIES)
def test_only_new_failures_and_recoveries_are_alerts(story: str) -> None:
    said, wanted = STORIES[story]
    state, told = AlertState(), []
    for number, fields in enumerate(said, 1):  # one by one, as ticks would bring them
        state, alerts = judge_evaluations(state, [make_evaluation(number, **fields)])
        told += [f"{alert.kind.value} {alert.partition}" for alert in alerts]
    assert told == wanted
    at_once = judge_evaluations(
        AlertState(), [make_evaluation(number, **fields) for number, fields in enumerate(said, 1)]
    )
    assert [f"{alert.kind.value} {alert.partition}" for alert in at_once[1]] == wanted
    assert at_once[0] == state


def test_every_receiver_of_a_failure_gets_its_recovery() -> None:
    grave = SinkOptions(name="grave", kind="log", severity=AlertSeverity.ERROR)
    said = [
        make_evaluation(1, owners=("@core",)),
        make_evaluation(2, owners=("@web",), gravity=AlertSeverity.WARN, fingerprint="f2"),
        make_evaluation(3, owners=(), passed=True),
    ]
    state, alerts = AlertState(), []
    for one in said:
        state, found = judge_evaluations(state, [one])
        alerts += found
    assert [(alert.kind.value, alert.gravity.value) for alert in alerts] == [
        ("failed", "error"),
        ("failed", "warn"),
        ("recovered", "error"),
    ]
    assert [len(select_sinks(alert, [grave])) for alert in alerts] == [1, 0, 1]
    assert alerts[-1].owners == ("@core", "@web")
    assert state == AlertState()


def test_state_of_an_older_version_is_continued() -> None:
    kept = {"partition": "shop@1", "fingerprint": "f1", "gravity": "error", "owners": ["@core"]}
    state = msgspec.convert({"open": {FAILED_EVALUATION.key: kept}, "told": {"lineage/changes:x": 1.0}}, AlertState)
    state, alerts = judge_evaluations(state, [make_evaluation(2), make_evaluation(3, passed=True)])
    assert [(alert.kind.value, alert.gravity.value) for alert in alerts] == [("recovered", "error")]


SINKS = [
    SinkOptions(name="all", kind="log"),
    SinkOptions(name="core", kind="log", owners=("@core",)),
    SinkOptions(name="others", kind="log", owners=("@web*",)),
    SinkOptions(name="grave", kind="log", severity=AlertSeverity.ERROR),
    SinkOptions(name="breaking", kind="log", checks=("no_breaking*",), repositories=("shop",)),
    SinkOptions(name="elsewhere", kind="log", repositories=("shop-*",)),
    SinkOptions(name="troubles", kind="log", recoveries=False),
    SinkOptions(name="mail", kind="smtp", addresses={"@core": "core@example.org"}),
    SinkOptions(name="nobody", kind="smtp", addresses={"@web": "web@example.org"}),
]


def test_messages_are_routed_to_matching_sinks() -> None:
    def names(**fields: Any) -> str:
        return " ".join(sink.name for sink in select_sinks(make_alert(**fields), SINKS))

    assert names() == "all core grave breaking troubles mail"
    assert names(gravity=AlertSeverity.WARN) == "all core breaking troubles mail"
    assert names(kind=AlertKind.RECOVERED, owners=("@web-team",)) == "all others grave breaking"
    assert names(partition="", asset="repositories/shop", check="can_be_read") == "all core grave troubles mail"
    assert mail_recipients(make_alert(), SINKS[-2]) == ["core@example.org"]


def test_names_from_sql_stay_names_in_every_message() -> None:
    alert = make_alert(
        check=HOSTILE_TEXT,
        asset=HOSTILE_TEXT,
        partition=HOSTILE_TEXT,
        description=HOSTILE_TEXT,
        findings=HOSTILE_TEXT,
        owners=(HOSTILE_TEXT,),
    )
    for text in (format_log_line(alert), format_title(alert)):
        assert text.isprintable()
    post = json.dumps(format_slack(alert))
    assert "<!channel>" not in post
    shown = format_slack(alert)
    marked = [shown["text"], shown["blocks"][0]["text"]["text"]]
    assert all(text.count("<") == 0 and "*b*" not in text and "`c`" not in text for text in marked)
    plain = [block["text"] for block in shown["blocks"][1:-1]] + shown["blocks"][-1]["elements"]
    assert {text["type"] for text in plain} == {"plain_text"}
    message = format_mail(alert, "lineage@example.org", ["a@example.org"])
    assert message["Bcc"] is None
    assert "\n" not in str(message["Subject"])
    parsed = message.as_bytes().split(b"\n\n")[0]
    assert b"evil.example\r" not in parsed
    assert not any(header.lower() == "bcc" for header in message.keys())  # noqa: SIM118
    assert format_document(alert)["description"] == HOSTILE_TEXT, "machines get the name as it is"


def test_a_long_list_is_cut_and_says_so() -> None:
    alert = make_alert(findings="\n".join(f"| line {number} |" for number in range(9_000)))
    shown = format_slack(alert)
    assert all(len(block["text"]["text"]) <= 3_000 for block in shown["blocks"] if "text" in block)
    assert "more lines" in shown["blocks"][2]["text"]["text"]


def sink_context(folder: Path, **environ: str) -> SinkContext:
    return SinkContext(environ, folder, 2.0)


HOOK = SinkOptions(name="hook", kind="webhook", url_env="HOOK")
SLACK = SinkOptions(name="slack", kind="slack", url_env="HOOK", token_env="TOKEN")


def test_webhooks_and_slack_take_messages(tmp_path: Path) -> None:
    server = HttpReceiver()
    with run_server(server):
        place = sink_context(tmp_path, HOOK=f"{server.url}/services/{SECRET}", TOKEN=SECRET)
        assert send_alert(make_alert(), HOOK, place) is None
        assert send_alert(make_alert(), SLACK, place) is None
    (path, headers, body), (_, slack_headers, slack_body) = server.taken
    assert (path, body["id"], headers["Idempotency-Key"]) == (f"/services/{SECRET}", make_alert().id, make_alert().id)
    assert (body["owners"], body["partition"]) == (["@core", "sales@example.org"], "shop@1")
    assert slack_headers["Authorization"] == f"Bearer {SECRET}"
    assert slack_body["blocks"][0]["type"] == "section"


def test_a_refusal_says_why_without_the_secret(tmp_path: Path) -> None:
    server = HttpReceiver()
    with run_server(server):
        place = sink_context(tmp_path, HOOK=f"{server.url}/{SECRET}")
        server.headers = {"Retry-After": "77", "Location": f"{server.url}/elsewhere"}
        server.answers = [503, 302, 400, 404]
        found = [send_alert(make_alert(), HOOK, place) for _ in range(4)]
        server.delay = 3.0
        slow = send_alert(make_alert(), HOOK, msgspec.structs.replace(place, timeout=0.2))
    down = send_alert(make_alert(), HOOK, place)
    unset = send_alert(make_alert(), HOOK, sink_context(tmp_path))
    wrong = send_alert(make_alert(), HOOK, sink_context(tmp_path, HOOK=f"ftp://{SECRET}"))
    odd = send_alert(make_alert(), HOOK, sink_context(tmp_path, HOOK=f"http://{SECRET} {SECRET}"))
    assert [(one.reason, one.final) for one in found if one] == [
        ("answered 503", False),
        ("answered 302", False),
        ("answered 400", True),
        ("answered 404", False),
    ]
    assert found[0] is not None
    assert found[0].wait == 77
    assert server.taken[:-1] == [], "a redirect is not followed; the slow one arrived after we had gone"
    assert slow is not None
    assert slow.reason == "did not answer in time"
    for refusal in (*found, slow, down, unset, wrong, odd):
        assert refusal is not None
        assert SECRET not in refusal.reason
    assert unset is not None
    assert unset.reason == "sink hook: the variable HOOK is not set"


@pytest.mark.parametrize(("asked", "wait"), [("\u00b2", 0), ("9" * 400, float("inf")), ("Tue", 0), ("-1", 0), ("", 0)])
def test_any_retry_after_header_gives_a_bounded_wait(asked: str, wait: float, tmp_path: Path) -> None:
    server = HttpReceiver()
    with run_server(server):
        server.headers, server.answers = {"Retry-After": asked}, [503]
        refusal = send_alert(make_alert(), HOOK, sink_context(tmp_path, HOOK=server.url))
    assert refusal is not None
    assert (refusal.reason, refusal.wait) == ("answered 503", wait)


MAIL = SinkOptions(
    name="mail",
    kind="smtp",
    host="127.0.0.1",
    username="lineage",
    password_env="PASSWORD",
    sender="Lineage <lineage@example.org>",
    recipients=("data@example.org",),
    addresses={"@core": "core@example.org"},
)


def test_mail_goes_to_recipients_and_owners(tmp_path: Path) -> None:
    server = MailReceiver(password=SECRET)
    with run_server(server):
        sink = msgspec.structs.replace(MAIL, port=server.port)
        assert send_alert(make_alert(description=HOSTILE_TEXT), sink, sink_context(tmp_path, PASSWORD=SECRET)) is None
        denied = send_alert(make_alert(), sink, sink_context(tmp_path, PASSWORD="wrong-one"))
        server.refused = {"data@example.org", "core@example.org"}
        refused = send_alert(make_alert(), sink, sink_context(tmp_path, PASSWORD=SECRET))
        unencrypted = send_alert(
            make_alert(), msgspec.structs.replace(sink, security="starttls"), sink_context(tmp_path, PASSWORD=SECRET)
        )
    down = send_alert(make_alert(), sink, sink_context(tmp_path, PASSWORD=SECRET))
    [(to, message)] = server.taken
    assert to == ["data@example.org", "core@example.org"]
    assert message["Message-ID"] == f"<{make_alert().id}@example.org>"
    assert str(message["Subject"]).startswith("[error] lineage/changes: no_breaking_changes failed in shop@1")
    assert "| breaking |" in message.get_content()
    reasons = [refusal.reason for refusal in (denied, refused, unencrypted, down) if refusal]
    assert reasons == [
        "answered 535",
        "refused all recipients (550)",
        "the mail server failed (SMTPNotSupportedError)",
        "connection refused",
    ]


def test_a_mail_refused_by_some_recipients_goes_once_to_the_others(tmp_path: Path) -> None:
    server, clock, outbox = MailReceiver(password=SECRET), Clock(), Outbox(tmp_path)
    with run_server(server):
        sink, place = msgspec.structs.replace(MAIL, port=server.port), sink_context(tmp_path, PASSWORD=SECRET)
        server.refused, server.refusal = {"core@example.org"}, "450 come back later"
        queue_alerts(outbox, OutboxState(), [make_evaluation(1)], [sink], clock())
        (kept,) = deliver(outbox, [sink], clock, place).kept
        assert (kept.reason, kept.left) == ("refused 1 of 2 recipients (450)", ("core@example.org",))
        server.refused, clock.now = set(), kept.due
        assert len(deliver(outbox, [sink], clock, place).sent) == 1
        server.refused, server.refusal = {"core@example.org"}, "550 nobody here"
        queue_alerts(outbox, outbox.load_state(), [make_evaluation(2, fingerprint="f2")], [sink], clock())
        (aside,) = deliver(outbox, [sink], clock, place).aside
        assert (aside.reason, aside.left) == ("refused 1 of 2 recipients (550)", ("core@example.org",))
    assert [to for to, _ in server.taken] == [["data@example.org"], ["core@example.org"], ["data@example.org"]]


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a key and a certificate for the loopback that it signs itself."""
    key, signed = folder / "key.pem", folder / "certificate.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"]
    files = ["-keyout", str(key), "-out", str(signed)]
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run(["openssl", "req", "-x509", *curve, *subject, *files], check=True, capture_output=True)
    return signed, key


def test_mail_is_encrypted_where_configured_and_only_to_trusted_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed, key = certificate(tmp_path)
    server = MailReceiver(password=SECRET, certificate=(signed, key))
    with run_server(server):
        sink = msgspec.structs.replace(MAIL, port=server.port, security="starttls")
        stranger = send_alert(make_alert(), sink, sink_context(tmp_path, PASSWORD=SECRET))
        assert server.taken == []
        assert server.encrypted == 0
        monkeypatch.setenv("SSL_CERT_FILE", str(signed))
        assert send_alert(make_alert(), sink, sink_context(tmp_path, PASSWORD=SECRET)) is None
        elsewhere = send_alert(
            make_alert(), msgspec.structs.replace(sink, host="localhost"), sink_context(tmp_path, PASSWORD=SECRET)
        )
    assert [message["Message-ID"] for _, message in server.taken] == [f"<{make_alert().id}@example.org>"]
    assert server.encrypted == 1
    for refusal in (stranger, elsewhere):
        assert refusal is not None
        assert refusal.reason == "TLS failed: CERTIFICATE_VERIFY_FAILED"


class Clock:
    """A clock that a test sets."""

    now = FAILED_EVALUATION.at

    def __call__(self) -> float:
        return self.now


def deliver(outbox: Outbox, sinks: list[SinkOptions], clock: Clock, place: SinkContext) -> DeliveryOutcome:
    return deliver_due(outbox, sinks, place, QUICK_PATIENCE, clock)


def test_a_sink_that_is_down_gets_everything_later_once_and_in_order(tmp_path: Path) -> None:
    server = HttpReceiver()
    port, clock, outbox = int(server.server_address[1]), Clock(), Outbox(tmp_path)
    server.server_close()
    sinks = [HOOK, SinkOptions(name="log", kind="log")]
    place = sink_context(tmp_path, HOOK=f"http://127.0.0.1:{port}/{SECRET}")
    said = [make_evaluation(1), make_evaluation(2, passed=True)]
    queue_alerts(outbox, OutboxState(), said, sinks, clock())
    outcome = deliver(outbox, sinks, clock, place)
    assert [len(part) for part in (outcome.sent, outcome.kept, outcome.aside)] == [2, 2, 0]
    assert [one.attempts for one in outbox.pending()] == [1, 0], "the second waits behind the first"
    pauses = []
    for _ in range(9):
        due = outbox.pending()[0].due
        pauses.append(due - clock())
        clock.now = due - 1
        assert deliver(outbox, sinks, clock, place).kept[0].attempts == len(pauses), "too early to try again"
        clock.now = due
        deliver(outbox, sinks, clock, place)
    assert pauses == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
    clock.now = outbox.pending()[0].due
    back = HttpReceiver(port)
    with run_server(back):
        assert len(deliver(outbox, sinks, clock, place).sent) == 2
        assert deliver(outbox, sinks, clock, place) == DeliveryOutcome()
    assert [body["kind"] for _, _, body in back.taken] == ["failed", "recovered"]
    lines = (tmp_path / "alerts.ndjson").read_text().splitlines()
    assert [json.loads(text)["kind"] for text in lines] == ["failed", "recovered"]
    assert not any(SECRET in file.read_text() for file in tmp_path.rglob("*") if file.is_file())


def test_a_message_that_is_always_refused_is_set_aside(tmp_path: Path) -> None:
    clock, outbox, server = Clock(), Outbox(tmp_path), HttpReceiver()
    gone = SinkOptions(name="gone", kind="log")
    with run_server(server):
        place = sink_context(tmp_path, HOOK=server.url)
        queue_alerts(
            outbox, OutboxState(), [make_evaluation(1), make_evaluation(2, fingerprint="f2")], [HOOK, gone], clock()
        )
        server.answers = [422]
        first = deliver(outbox, [HOOK], clock, place)
        assert [(one.sink, one.reason) for one in first.aside] == [("hook", "answered 422")]
        assert [one.sink for one in first.sent] == ["hook"]
        assert [one.sink for one in first.kept] == ["gone", "gone"]
        clock.now += 8 * 86_400
        assert len(deliver(outbox, [HOOK], clock, place).aside) == 2
    assert len(list((tmp_path / "undelivered").glob("*.json"))) == 3
    assert outbox.pending() == []


def test_a_slow_sink_does_not_exhaust_a_tick(tmp_path: Path) -> None:
    clock, outbox = Clock(), Outbox(tmp_path)
    sink = SinkOptions(name="log", kind="log")
    queue_alerts(
        outbox,
        OutboxState(),
        [make_evaluation(number, fingerprint=f"f{number}") for number in range(1, 9)],
        [sink],
        clock(),
    )

    def slow(alert: Alert, sink: SinkOptions) -> None:
        clock.now += 6

    outcome = outbox.deliver([sink], slow, QUICK_PATIENCE, clock)
    assert (len(outcome.sent), len(outcome.kept)) == (4, 4), "none is begun after the budget"
    assert len(outbox.deliver([sink], slow, QUICK_PATIENCE, clock).sent) == 4


def test_after_a_crash_nothing_is_sent_twice(tmp_path: Path) -> None:
    clock, outbox, sink = Clock(), Outbox(tmp_path), SinkOptions(name="log", kind="log")
    queue_alerts(outbox, OutboxState(), [make_evaluation(1)], [sink], clock())
    (tmp_path / "state.json").unlink()  # as if we had died between the messages and the state
    queue_alerts(outbox, outbox.load_state(), [make_evaluation(1)], [sink], clock())
    assert len(deliver(outbox, [sink], clock, sink_context(tmp_path)).sent) == 1
    assert outbox.load_state().cursor == 1


def test_after_a_crash_delivered_messages_are_not_repeated_for_other_sinks(tmp_path: Path) -> None:
    outbox, sink = Outbox(tmp_path), SinkOptions(name="mail", kind="smtp")
    outbox.queue(make_alert(), [sink], 1.0)
    patience = RetryPolicy(pause=60.0)
    (kept,) = outbox.deliver(
        [sink], lambda *_: SinkRefusal("later", left=("core@example.org",)), patience, lambda: 2.0
    ).kept
    outbox.queue(make_alert(), [sink], 3.0)  # as if we had died before the state, and judged the same again
    assert outbox.pending() == [kept]
    assert (kept.left, kept.attempts) == (("core@example.org",), 1)


def test_evaluations_that_could_not_be_saved_are_judged_again(tmp_path: Path) -> None:
    outbox, sink = Outbox(tmp_path), SinkOptions(name="log", kind="log")
    (tmp_path / "outbox").write_text("no folder")
    with pytest.raises(OSError):
        queue_alerts(outbox, OutboxState(), [make_evaluation(1)], [sink], 1.0)
    assert outbox.load_state() == OutboxState()
    (tmp_path / "outbox").unlink()
    queue_alerts(outbox, outbox.load_state(), [make_evaluation(1)], [sink], 2.0)
    assert len(outbox.pending()) == 1


def test_a_message_says_the_same_time_in_every_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    told = set()
    for zone in ("UTC", "Asia/Kathmandu"):
        with monkeypatch.context() as patched:
            patched.setenv("TZ", zone)
            time.tzset()
            told.add(
                (
                    format_document(make_alert())["at"],
                    format_mail(make_alert(), "a@example.org", ["b@example.org"])["Date"],
                )
            )
    time.tzset()
    assert len(told) == 1


def test_the_retry_pause_is_bounded(tmp_path: Path) -> None:
    clock, outbox, sink = Clock(), Outbox(tmp_path), SinkOptions(name="log", kind="log")
    queue_alerts(outbox, OutboxState(), [make_evaluation(1)], [sink], clock())
    (file,) = (tmp_path / "outbox").iterdir()
    file.write_text(file.read_text().replace('"attempts":0', '"attempts":5000'))
    (kept,) = outbox.deliver([sink], lambda alert, sink: SinkRefusal("still down"), QUICK_PATIENCE, clock).kept
    assert (kept.attempts, kept.due - clock()) == (5001, 3600)


def test_a_torn_outbox_file_blocks_no_other(tmp_path: Path) -> None:
    clock, outbox, sink = Clock(), Outbox(tmp_path), SinkOptions(name="log", kind="log")
    queue_alerts(
        outbox,
        OutboxState(),
        [make_evaluation(1), make_evaluation(2, fingerprint="f2"), make_evaluation(3)],
        [sink],
        clock(),
    )
    assert outbox.set_aside_unreadable() == []
    torn = sorted((tmp_path / "outbox").glob("*.json"))[0]
    torn.write_bytes(b"")
    (tmp_path / "state.json").write_text("{")
    told = outbox.set_aside_unreadable()
    assert [text.split(" cannot be read")[0] for text in told] == [str(torn), str(tmp_path / "state.json")]
    assert {file.name for file in (tmp_path / "unreadable").iterdir()} == {torn.name, "state.json"}
    assert outbox.load_state() == OutboxState()
    assert len(deliver(outbox, [sink], clock, sink_context(tmp_path)).sent) == 1
    assert outbox.set_aside_unreadable() == []


def test_a_message_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def sync(file: int) -> None:
        done.append("sync")
        fsync(file)

    def name(self: Path, place: Path) -> Path:
        done.append("name")
        return replace(self, place)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", name)
    queue_alerts(Outbox(tmp_path), OutboxState(), [make_evaluation(1)], [SinkOptions(name="log", kind="log")], 0.0)
    assert done == ["sync", "name", "sync"] * 2, "for the message and for the state: content, name, folder"


def test_only_one_process_sends(tmp_path: Path) -> None:
    with Outbox(tmp_path).lock() as first, Outbox(tmp_path).lock() as second:
        assert (first, second) == (True, False)
    with Outbox(tmp_path).lock() as again:
        assert again


WRONG = {
    'kind = "pigeon"': "kind",
    'kind = "slack"': "a sink of kind slack needs url_env",
    'kind = "webhook"\nurl_env = "https://hooks.example/x"': "never holds the secret itself",
    'kind = "webhook"\nurl = "https://hooks.example/x"': "unknown key alerts.sinks.0.url; did you mean url_env?",
    'kind = "smtp"\nsender = "a@example.org"': "needs recipients, or addresses of owners",
    'kind = "smtp"\nsender = "a@example.org\\nBcc: b"\nrecipients = ["a@example.org"]': "an address has one line",
    'kind = "log"\n[[alerts.sinks]]\nname = "x"\nkind = "log"': "two sinks have the name x",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_settings_are_refused_with_a_reason(text: str, tmp_path: Path) -> None:
    (tmp_path / "lineage.toml").write_text(f'[[alerts.sinks]]\nname = "x"\n{text}\n')
    with pytest.raises(LineageError) as refused:
        load_settings(tmp_path, {}, {})
    assert WRONG[text] in str(refused.value)


def test_the_settings_of_the_operating_page_load(tmp_path: Path) -> None:
    page = ROOT.joinpath("docs/operating.md").read_text()
    blocks = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    sinks = []
    for number, block in enumerate(blocks):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "lineage.toml").write_text(block)
        settings = load_settings(folder, {}, {})
        sinks += [sink.kind for sink in settings.alerts.sink_options()] if "[[alerts.sinks]]" in block else []
        if "[checks]" in block:
            assert (settings.checks.parsed, settings.checks.worse) == (0.95, 0.01)
    assert sinks == ["slack", "webhook", "smtp", "log"]
