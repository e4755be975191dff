"""A run asks nobody but this machine."""

import socket

import pytest

from lineage_pipeline_tests.materialised import materialised
from lineage_pipeline_tests.offline import ATTEMPTS, is_stranger


def test_a_connection_to_another_machine_is_refused() -> None:
    with socket.socket() as one, pytest.raises(PermissionError):
        one.connect(("192.0.2.1", 80))
    assert ATTEMPTS.pop() == "('192.0.2.1', 80)"


@pytest.mark.parametrize(
    ("address", "stranger"),
    [
        (("127.0.0.1", 80), False),
        (("::1", 80, 0, 0), False),
        ("/run/socket", False),
        (("example.org", 80), True),
        (("10.0.0.1", 80), True),
        (("fe80::1%eth0", 80), True),
    ],
)
def test_who_is_a_stranger(address: object, stranger: bool) -> None:
    assert is_stranger(address) is stranger


@pytest.mark.spark
@pytest.mark.pipeline
def test_the_whole_pipeline_runs_without_the_network() -> None:
    assert materialised().summary is not None
    assert ATTEMPTS == []
