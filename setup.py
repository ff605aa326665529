"""Find the packages; everything else stands in ``pyproject.toml``."""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["tabwb", "tabwb.*"]),
        *find_packages("plugins"),
        "tabwb_batteries",
    ]
)
