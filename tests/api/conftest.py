"""The Python interface is compared with commands that run in this process."""

from tests.cli.conftest import lenient as run  # noqa: F401 - a fixture
