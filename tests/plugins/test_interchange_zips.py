"""Archives that others wrote: damaged, huge, with odd names; each is one error, and small."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from tabwb_interchange import zips
from tabwb_interchange.inspect_log import InspectLog
from tabwb_interchange.zips import Archive

from tabwb.plugin_api import TabwbError

HEADER = '{"version": 2, "eval": {"task": "t", "model": "m", "created": "2026-01-02"}}'
SAMPLE = '{"id": "w1", "epoch": 1, "input": "a", "output": {"completion": "dog"}}'


def packed(
    path: Path, members: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED
) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "a.eval"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_are_read(log: Path, method: int) -> None:
    packed(log, {"a.json": "x" * 100_000, "b.json": ""}, method)
    with Archive.opened(log) as archive:
        assert archive.read("a.json") == b"x" * 100_000
        assert archive.read("b.json") == b""


def test_the_last_of_two_members_with_one_name_is_read(log: Path) -> None:
    with zipfile.ZipFile(log, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a", "first")
        archive.writestr("a", "second")
    with Archive.opened(log) as archive:
        assert (archive.names, archive.read("a")) == (("a",), b"second")


def test_a_bomb_is_not_unpacked(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "MOST_MEMBER", 1_000_000)
    packed(log, {"header.json": HEADER, "samples/a.json": b" " * 10_000_000})
    with Archive.opened(log) as archive, pytest.raises(TabwbError, match="too large"):
        archive.read("samples/a.json")


def test_a_member_that_lies_about_its_size_is_not_unpacked(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zips, "MOST_MEMBER", 1_000_000)
    content = packed(log, {"a.json": b" " * 10_000_000}).read_bytes()
    size = struct.pack("<L", 10_000_000)
    log.write_bytes(content.replace(size, struct.pack("<L", 10)))
    with Archive.opened(log) as archive, pytest.raises(TabwbError, match="too large"):
        archive.read("a.json")


def test_the_sum_of_all_members_is_limited(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "MOST_WHOLE", 2_500)
    packed(log, {f"{name}.json": b"x" * 1_000 for name in "abc"})
    with Archive.opened(log) as archive:
        archive.read("a.json")
        archive.read("b.json")
        with pytest.raises(TabwbError, match="too large"):
            archive.read("c.json")


def test_a_huge_table_of_contents_is_not_read(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed(log, {f"{number}": "" for number in range(100)})
    monkeypatch.setattr(zips, "MOST_DIRECTORY", 1_000)
    with pytest.raises(TabwbError, match="too many members"), Archive.opened(log):
        pass


def test_zstandard(log: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    text = HEADER.encode() * 1_000
    # Two frames one after the other, as inspect_ai writes large members.
    frames = zstandard.compress(text[:20_000]) + zstandard.compress(text[20_000:])
    content = packed(log, {"a.json": frames}, zipfile.ZIP_STORED).read_bytes()
    stored = zipfile.ZipFile(io.BytesIO(content)).getinfo("a.json")
    content = content.replace(struct.pack("<L", stored.CRC), struct.pack("<L", zlib.crc32(text)))
    central = content.index(b"PK\1\2")
    log.write_bytes(content[: central + 10] + struct.pack("<H", 93) + content[central + 12 :])
    with Archive.opened(log) as archive:
        assert archive.read("a.json") == text


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda content: b"", "is not a zip archive"),
        (lambda content: b"PK\3\4" + b"\0" * 40, "is not a zip archive"),
        (lambda content: content[:-30], "zip archive"),
        (lambda content: content.replace(b"dog", b"cat"), "checksum is wrong"),
        (lambda content: content.replace(b"PK\3\4", b"PK\3\5"), "has no header"),
    ],
)
def test_damaged_archives(log: Path, change: object, expected: str) -> None:
    members = {"header.json": HEADER, "samples/a.json": SAMPLE}
    content = packed(log, members, zipfile.ZIP_STORED).read_bytes()
    assert callable(change)
    log.write_bytes(change(content))
    with pytest.raises(TabwbError, match=expected):
        InspectLog().read(log, {})


def test_names_that_lead_out_of_the_archive_lead_nowhere(log: Path) -> None:
    members = {"header.json": HEADER, "samples/../../evil.json": SAMPLE, "../x.json": "?"}
    (answer,) = InspectLog().read(packed(log, members), {}).answers
    assert answer.text == "dog"
    assert [path.name for path in log.parent.iterdir()] == ["a.eval"]
    assert not (log.parent.parent / "x.json").exists()


@pytest.mark.parametrize(
    ("header", "sample", "expected"),
    [
        ("[]", SAMPLE, "it is an array; allowed: a JSON object|it is an array"),
        ('{"version": 3, "eval": {}}', SAMPLE, "its format version is 3"),
        ('{"version": 2}', SAMPLE, "'eval' is missing"),
        (HEADER, "{", "is not JSON"),
        (HEADER, "[" * 50_000, "cannot be read"),
        (HEADER, '{"id": "w1", "epoch": "one"}', "'epoch' is 'one'"),
        (HEADER, b'{"id": "\xff"}', "is not UTF-8: byte 0xff"),
    ],
)
def test_members_that_are_something_else(
    log: Path, header: str, sample: str | bytes, expected: str
) -> None:
    with pytest.raises(TabwbError, match=expected):
        InspectLog().read(packed(log, {"header.json": header, "samples/a.json": sample}), {})


def test_numbers_of_the_wrong_kind_are_not_known(log: Path) -> None:
    header = HEADER.replace(
        '"model": "m"',
        '"model": "m", "model_generate_config": '
        '{"temperature": NaN, "max_tokens": "many", "seed": 1e400}',
    )
    sample = SAMPLE[:-1] + ', "working_time": -1, "completed_at": "soon", "scores": {"s": null}}'
    members = {"header.json": header, "samples/a.json": sample}
    (answer,) = InspectLog().read(packed(log, members), {}).answers
    assert answer.decoding.temperature is answer.decoding.max_tokens is answer.decoding.seed is None
    assert (answer.latency_s, answer.given_at, answer.run.session_date) == (None, "", "2026-01-02")
