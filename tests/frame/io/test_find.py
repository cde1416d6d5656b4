"""Which files a path means."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import fs

from argosy.errors import BadFile
from argosy.frame.io.find import Kind, find

THINGS = Kind(name="thing", endings=(".thing",))


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def names_of(folder: Path, *asked: str) -> list[str]:
    paths = [str(folder / one) for one in asked]
    found = find(paths[0] if len(paths) == 1 else paths, THINGS)
    return [str(Path(file.path).relative_to(folder)) for file in found.files]


def test_a_folder_means_the_files_of_that_kind_below_it_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.thing", "a.thing", "sub/c.THING", "notes.txt")
    assert names_of(tmp_path, "") == ["a.thing", "b.thing", "sub/c.THING"]


def test_hidden_files_and_folders_are_skipped(tmp_path: Path) -> None:
    make(tmp_path, "a.thing", ".b.thing", "_SUCCESS", "_c.thing", ".out.argosy-12ab/d.thing", "_delta/e.thing")
    assert names_of(tmp_path, "") == names_of(tmp_path, "*") == names_of(tmp_path, "**/*.thing") == ["a.thing"]


def test_a_hidden_file_that_is_named_is_read(tmp_path: Path) -> None:
    make(tmp_path, "_c.thing")
    assert names_of(tmp_path, "_c.thing") == names_of(tmp_path, "_*.thing") == ["_c.thing"]


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("*.thing", ["a.thing", "b.thing"]),
        ("[b-z].thing", ["b.thing"]),
        ("?.thing", ["a.thing", "b.thing"]),
        ("x/*.thing", ["x/c.thing"]),
        ("*/*.thing", ["x/c.thing"]),
        ("**/*.thing", ["a.thing", "b.thing", "x/c.thing", "x/y/d.thing"]),
        ("x/**", ["x/c.thing", "x/y/d.thing"]),
        ("**/y/*", ["x/y/d.thing"]),
        ("*", ["a.thing", "b.thing", "x/c.thing", "x/y/d.thing"]),
        ("**/*", ["a.thing", "b.thing", "x/c.thing", "x/y/d.thing"]),
    ],
)
def test_a_glob_means_what_it_matches_once_each(tmp_path: Path, pattern: str, matches: list[str]) -> None:
    make(tmp_path, "a.thing", "b.thing", "x/c.thing", "x/y/d.thing")
    assert names_of(tmp_path, pattern) == matches


def test_a_name_with_brackets_is_that_file_if_it_exists(tmp_path: Path) -> None:
    make(tmp_path, "a[1].thing", "a1.thing")
    assert names_of(tmp_path, "a[1].thing") == ["a[1].thing"]


def test_a_list_keeps_its_order(tmp_path: Path) -> None:
    make(tmp_path, "a.thing", "b.thing", "c.thing")
    assert names_of(tmp_path, "c.thing", "[ab].thing") == ["c.thing", "a.thing", "b.thing"]


def test_keys_are_taken_from_the_folders_below_what_was_asked_for(tmp_path: Path) -> None:
    make(tmp_path, "year=2024/city=S%C3%A3o/a.thing", "year=__HIVE_DEFAULT_PARTITION__/city=x/b.thing")
    for asked in ("", "*/*/*.thing", "year=*"):
        keys = {file.keys for file in find(str(tmp_path / asked), THINGS).files}
        assert keys == {(("year", "2024"), ("city", "São")), (("year", None), ("city", "x"))}
    (one,) = find(tmp_path / "year=2024", THINGS).files
    assert one.keys == (("city", "São"),)


def test_a_relative_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.thing")
    monkeypatch.chdir(tmp_path)
    assert find("a.thing", THINGS).files[0].path == str(tmp_path / "a.thing")


def test_a_uri_and_a_file_system_are_understood(tmp_path: Path) -> None:
    make(tmp_path, "in/a.thing", "in/b.thing")
    assert len(find(f"{tmp_path.as_uri()}/in/*.thing", THINGS).files) == 2
    below = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    found = find("in", THINGS, filesystem=below)
    assert [file.path for file in found.files] == ["in/a.thing", "in/b.thing"]
    assert found.filesystem.equals(below)


def test_an_address_nobody_knows_is_a_bad_file() -> None:
    with pytest.raises(BadFile, match="cannot be used"):
        find("nowhere://bucket/key", THINGS)


def test_a_typo_gets_the_nearest_name(tmp_path: Path) -> None:
    make(tmp_path, "sales/2024.thing")
    with pytest.raises(BadFile, match=r"no such file or folder; did you mean .*/sales\?"):
        find(tmp_path / "sale", THINGS)
    with pytest.raises(BadFile, match=r"did you mean .*/2024\.thing\?"):
        find(tmp_path / "sales/2025.thing", THINGS)
    with pytest.raises(BadFile, match=r"did you mean .*/sales\?"):
        find(str(tmp_path / "salse/*.thing"), THINGS)


def test_what_matches_nothing_says_what_there_is(tmp_path: Path) -> None:
    make(tmp_path, "a.csv")
    with pytest.raises(BadFile, match=r"no thing files \(\.thing\) in this folder; it has a\.csv"):
        find(tmp_path, THINGS)
    with pytest.raises(BadFile, match=r"no file matches this pattern; .* has a\.csv"):
        find(str(tmp_path / "*.thing"), THINGS)
    with pytest.raises(BadFile, match="list of thing files to read is empty"):
        find([], THINGS)
