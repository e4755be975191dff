"""What all tests share: the `--accept` option, and groups for those that must not run side by side."""

import pytest

GROUPS = ("spark", "cluster", "browser", "postgres")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write what the engine gives into the fixtures")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in GROUPS:
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.xdist_group(name))
                break
