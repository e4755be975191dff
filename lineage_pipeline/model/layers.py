"""Words by which schemas and folders say who reads what is in them."""

PUBLIC_LAYERS = (
    *("mart", "marts", "datamart", "datamarts", "core", "report", "reports", "reporting"),
    *("presentation", "semantic", "gold", "serving", "consumption"),
)
"""Layers that are made for readers beyond the repository."""

PRIVATE_LAYERS = ("staging", "stage", "stg", "intermediate", "int", "temp", "tmp", "scratch")
"""Layers that only later layers read."""

TEST_FOLDERS = ("test", "tests", "testdata", "test_data", "fixture", "fixtures", "unit_tests", "integration_tests")
"""Folders whose SQL only tests run."""
