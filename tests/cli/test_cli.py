from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from command_line import Run

import argosy as package
from argosy.cli import COMMANDS, load


def test_without_a_command_it_shows_what_there_is(argosy: Run) -> None:
    shown = argosy()
    assert "Usage" in shown.output
    assert all(name in shown.output for name in COMMANDS)


def test_an_unknown_command_is_named(argosy: Run) -> None:
    result = argosy("fly")
    assert result.exit_code == 2
    assert "No such command 'fly'" in result.output


def test_it_says_its_version(argosy: Run) -> None:
    assert argosy("--version").output == f"argosy {package.__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_shows_the_first_line_of_each_commands_own_help(name: str) -> None:
    assert load(name).help.splitlines()[0] == COMMANDS[name]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example(name: str, argosy: Run) -> None:
    shown = argosy(name, "--help")
    assert shown.exit_code == 0
    assert f"Example: argosy {name}" in shown.output


@pytest.mark.parametrize("name", ["top", "report", "doctor"])
def test_the_example_in_the_help_runs(
    name: str, argosy: Run, live_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert live_run.is_dir()
    monkeypatch.chdir(tmp_path)
    example = load(name).help.partition("Example: argosy ")[2].splitlines()[0]
    assert argosy(*shlex.split(example)).exit_code == 0
