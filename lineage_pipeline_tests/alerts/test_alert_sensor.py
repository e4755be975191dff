"""The alert sensor over check evaluations: real Dagster instances, real servers, and every message once."""

import json
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lineage_pipeline.config.load import Settings, load_settings
from lineage_pipeline_tests.support.alert_receivers import HttpReceiver, MailReceiver, run_server
from lineage_pipeline_tests.support.branch_project import run_branch_project

SECRET = "T0PS3CRET"
SINKS = """
[alerts]
dagster_url = "http://dagster.example:3000/"
timeout = 2
pause = 0

[[alerts.sinks]]
name = "file"
kind = "log"

[[alerts.sinks]]
name = "everybody"
kind = "slack"
url_env = "TEST_SLACK_URL"

[[alerts.sinks]]
name = "breaking"
kind = "webhook"
url_env = "TEST_HOOK_URL"
token_env = "TEST_HOOK_TOKEN"
severity = "error"
checks = ["no_breaking_changes"]

[[alerts.sinks]]
name = "owners"
kind = "smtp"
host = "127.0.0.1"
port = {port}
username = "lineage"
password_env = "TEST_MAIL_PASSWORD"
sender = "lineage@example.org"
checks = ["no_breaking_changes"]
addresses = {{ "sales@example.org" = "sales@example.org", "@core-team" = "core@example.org" }}
"""


@contextmanager
def receivers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[HttpReceiver, HttpReceiver, MailReceiver]]:
    slack, hook, post = HttpReceiver(), HttpReceiver(), MailReceiver(password=SECRET)
    monkeypatch.setenv("TEST_SLACK_URL", f"{slack.url}/services/{SECRET}")
    monkeypatch.setenv("TEST_HOOK_URL", f"{hook.url}/{SECRET}")
    monkeypatch.setenv("TEST_HOOK_TOKEN", SECRET)
    monkeypatch.setenv("TEST_MAIL_PASSWORD", SECRET)
    with run_server(slack), run_server(hook), run_server(post):
        yield slack, hook, post


def create_instance(folder: Path) -> Any:
    """Make an instance that keeps its records as ours does: SQLite files in a folder."""
    import dagster as dg

    folder.mkdir()
    return dg.DagsterInstance.local_temp(str(folder))


def load_alert_settings(folder: Path, port: int) -> Settings:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lineage.toml").write_text(SINKS.format(port=port))
    return load_settings(folder, {}, {})


def tick(instance: Any, given: Any, cursor: str | None = None) -> Any:
    """Let the sensor look once, as the daemon does, with a project or settings for one."""
    import dagster as dg

    from lineage_pipeline.defs.resources import Project
    from lineage_pipeline.defs.sensors.check_alerts import check_alerts_sensor

    project = given if isinstance(given, Project) else Project(given)
    with dg.build_sensor_context(instance=instance, cursor=cursor, resources={"project": project}) as context:
        return check_alerts_sensor(context)


def report_evaluation(
    instance: Any, partition: str, passed: bool, tags: dict[str, str] | None = None, **fields: Any
) -> str:
    """Record an evaluation, each in a run of its own, and give the run."""
    import dagster as dg

    said = {"asset_key": dg.AssetKey(["lineage", "changes"]), "check_name": "no_breaking_changes", **fields}
    evaluation = dg.AssetCheckEvaluation(passed=passed, partition=partition or None, **said)
    kind = dg.DagsterEventType.ASSET_CHECK_EVALUATION
    event = dg.DagsterEvent(kind.value, job_name="outside", event_specific_data=evaluation)
    run = instance.add_run(dg.DagsterRun("outside", run_id=str(uuid.uuid4()), tags=tags or {})).run_id
    instance.report_dagster_event(event, run_id=run)
    return str(run)


@pytest.mark.pipeline
def test_every_evaluation_is_read_once_wherever_the_cursor_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        receivers(monkeypatch) as (slack, hook, post),
        create_instance(tmp_path / "one") as instance,
    ):
        settings = load_alert_settings(tmp_path / "work", post.port)
        assert tick(instance, settings).skip_reason.skip_message == "0 new, 0 sent, 0 waiting, 0 put aside"
        slack.answers = [503]
        with caplog.at_level(logging.DEBUG):
            report_evaluation(instance, "shop@1", False, metadata={"owners": ["sales@example.org"], "fingerprint": "f"})
            first = tick(instance, settings)
            assert first.skip_reason.skip_message == "1 new, 3 sent, 1 waiting, 0 put aside"
            assert first.run_requests in (None, [])
            for cursor in (None, first.cursor, "0"):
                again = tick(instance, settings, cursor)
                assert again.cursor == first.cursor
            report_evaluation(instance, "shop@1", False, metadata={"owners": ["sales@example.org"], "fingerprint": "f"})
            report_evaluation(instance, "shop@1", True)
            assert tick(instance, settings).skip_reason.skip_message == "1 new, 4 sent, 0 waiting, 0 put aside"
    assert [body["text"].split("]")[0] for _, _, body in slack.taken] == ["[error", "[ok"]
    assert [body["kind"] for _, _, body in hook.taken] == ["failed", "recovered"]
    assert [to for to, _ in post.taken] == [["sales@example.org"]] * 2
    assert SECRET not in caplog.text
    assert not any(SECRET in file.read_text() for file in (tmp_path / "work").rglob("*") if file.is_file())


@pytest.mark.pipeline
def test_another_instance_is_read_from_its_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with receivers(monkeypatch) as (_, hook, post):
        settings = load_alert_settings(tmp_path / "work", post.port)
        with create_instance(tmp_path / "one") as instance:
            for number in range(3):
                report_evaluation(instance, f"shop@{number}", False)
            tick(instance, settings)
        with create_instance(tmp_path / "two") as instance:
            report_evaluation(instance, "shop@9", False)
            tick(instance, settings)
    assert [body["partition"] for _, _, body in hook.taken] == ["shop@0", "shop@1", "shop@2", "shop@9"]


@pytest.mark.pipeline
def test_evaluations_before_the_lookback_are_not_alerted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with receivers(monkeypatch) as (_, hook, post), create_instance(tmp_path / "one") as instance:
        settings = load_alert_settings(tmp_path / "work", post.port)
        recent = settings.alerts.model_copy(update={"lookback_hours": 0})
        report_evaluation(instance, "shop@1", False)
        tick(instance, settings.model_copy(update={"alerts": recent}))
        report_evaluation(instance, "shop@2", False)
        tick(instance, settings)
    assert [body["partition"] for _, _, body in hook.taken] == ["shop@2"]


@pytest.mark.pipeline
def test_a_deleted_run_repeats_and_loses_no_alert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with receivers(monkeypatch) as (_, hook, post), create_instance(tmp_path / "one") as instance:
        settings = load_alert_settings(tmp_path / "work", post.port)
        for passed in (False, True):
            last = report_evaluation(instance, "shop@1", passed)
        tick(instance, settings)
        assert [body["kind"] for _, _, body in hook.taken] == ["failed", "recovered"]
        instance.delete_run(last)
        tick(instance, settings)
        assert len(hook.taken) == 2, "what was read is not read again"
        last = report_evaluation(instance, "shop@2", False)
        tick(instance, settings)
        instance.delete_run(last)
        report_evaluation(instance, "shop@3", False)  # under the id of the one that is gone
        tick(instance, settings)
        tick(instance, settings)
    assert [body["partition"] for _, _, body in hook.taken[2:]] == ["shop@2", "shop@3"]


@pytest.mark.pipeline
def test_backfills_are_alerted_only_for_the_tip_of_a_ref(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with receivers(monkeypatch) as (_, hook, post), create_instance(tmp_path / "one") as instance:
        settings = load_alert_settings(tmp_path / "work", post.port)
        report_evaluation(instance, "shop@1", False, {"git/history": "true"})
        report_evaluation(instance, "shop@2", False, {"dagster/backfill": "abc"})
        report_evaluation(instance, "shop@3", False, {"git/ref": "main"})
        report_evaluation(instance, "shop@4", True, {"git/ref": "main", "dagster/backfill": "abc"})
        tick(instance, settings)
    told = [(body["kind"], body["partition"]) for _, _, body in hook.taken]
    assert told == [("failed", "shop@3"), ("recovered", "shop@4")]


@pytest.mark.pipeline
def test_settings_are_read_at_every_tick_and_a_repository_is_known_without_a_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dagster as dg

    from lineage_pipeline.defs.resources import Project

    with receivers(monkeypatch) as (_, hook, post), create_instance(tmp_path / "one") as instance:
        load_alert_settings(tmp_path / "work", post.port)
        monkeypatch.chdir(tmp_path / "work")
        project = Project()  # the daemon has one for all ticks
        unread: dict[str, Any] = {"asset_key": dg.AssetKey(["repositories", "shop"]), "check_name": "can_be_read"}
        report_evaluation(instance, "", False, **unread)
        tick(instance, project)
        assert hook.taken == []
        file = tmp_path / "work/lineage.toml"
        file.write_text(file.read_text().replace('checks = ["no_breaking_changes"]', 'repositories = ["shop"]', 1))
        report_evaluation(instance, "", True, **unread)
        report_evaluation(instance, "", False, **{**unread, "asset_key": dg.AssetKey(["repositories", "other"])})
        tick(instance, project)
    assert [(body["kind"], body["repository"]) for _, _, body in hook.taken] == [("recovered", "shop")]


@pytest.mark.spark
def test_a_breaking_branch_that_is_waived_gives_one_failure_and_one_recovery(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dagster as dg

    made, _ = run_branch_project()
    with receivers(monkeypatch) as (slack, hook, post), dg.DagsterInstance.from_config(str(made.home)) as instance:
        settings = load_alert_settings(tmp_path, post.port)
        for _ in range(3):
            result = tick(instance, settings)
    assert result.skip_reason.skip_message.startswith("0 new, 0 sent")
    told = [(body["kind"], body["severity"], body["partition"]) for _, _, body in hook.taken]
    assert told == [("failed", "error", made.keys["breaking"]), ("recovered", "error", made.keys["waived"])]
    failed, recovered = (body for _, _, body in hook.taken)
    assert "COL001" in failed["findings"]
    assert failed["link"] == "http://dagster.example:3000/assets/lineage/changes?view=checks"
    assert recovered["since"] == made.keys["breaking"]
    mails = [(sorted(to), str(message["Subject"])) for to, message in post.taken]
    assert [to for to, _ in mails] == [["core@example.org", "sales@example.org"]] * 3
    assert [subject.split("]")[0] for _, subject in mails] == ["[error", "[ok", "[warn"]
    lines = [json.loads(line) for line in (tmp_path / ".lineage/alerts/alerts.ndjson").read_text().splitlines()]
    assert len({line["id"] for line in lines}) == len(lines) == len(slack.taken)
    warned = {(line["check"], line["kind"]) for line in lines if line["partition"] == made.keys["doubtful"]}
    assert {("no_breaking_changes", "failed"), ("parse_success", "failed")} <= warned
