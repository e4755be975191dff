"""A run connects to no other machine."""

import socket

import pytest

from lineage_pipeline_tests.support.example_run import run_example
from lineage_pipeline_tests.support.network_guard import REFUSED_CONNECTIONS, is_remote_address


def test_a_connection_to_another_machine_is_refused() -> None:
    with socket.socket() as one, pytest.raises(PermissionError):
        one.connect(("192.0.2.1", 80))
    assert REFUSED_CONNECTIONS.pop() == "('192.0.2.1', 80)"


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
def test_which_addresses_are_remote(address: object, stranger: bool) -> None:
    assert is_remote_address(address) is stranger


@pytest.mark.spark
@pytest.mark.pipeline
def test_the_whole_pipeline_runs_without_the_network() -> None:
    assert run_example().summary is not None
    assert REFUSED_CONNECTIONS == []
