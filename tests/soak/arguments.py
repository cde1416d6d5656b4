"""Hostile arguments to everything that a user may call: no crash, no hang, a right answer or an error that says why.

Each call starts from a valid one and has one or two of its arguments replaced. It runs in a child process under a
deadline and a limit of memory; some children hold a pilot open, which must still do its work after each call. A finding
is told with the number of its call, so that it can be repeated.

    python tests/soak/arguments.py --calls 10000 --seed 7       so many, however long it takes
    python tests/soak/arguments.py --seed 7 --only 1234         one of them, here
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import psutil
from hostile import commands, frames, memories, pilots, trainings
from hostile.judging import GOOD, Case, judge
from hostile.values import VALUES, twisted

import argosy

DEADLINE_SECONDS = 60
MOST_NBYTES = 4 << 30
"""That a child may have; what is asked for beyond that is a MemoryError."""
BATCH = 2500
SHARE_OF_TWO = 0.2
SHARE_OF_SLOW = 0.25
"""Of the draws for calls that may take a second so many are kept."""
MOST_FINDINGS = 60
LEFT_OUT = {("map", "items", "long text")}
"""A million tasks are a million tasks."""


def every_case() -> list[Case]:
    parts = (pilots.in_pilot, pilots.plain, frames.cases, memories.cases, trainings.cases, commands.cases)
    return [case for part in parts for case in part() if case.group != "never"]


Draw = tuple[str, dict[str, str]]
"""A case, and for each argument that is replaced the name of the value."""


def draws(cases: list[Case], seed: int, slow: float = SHARE_OF_SLOW) -> Iterator[Draw]:
    """Each value in each place once, in random order; then again, in pairs."""
    chance = random.Random(seed)
    places = [
        (case.name, name, value)
        for case in cases
        for name in [*case.arguments, *(["typo_"] if case.typo else [])]
        for value in _values(case, name)
    ]
    kept = {case.name: slow if case.slow else 1.0 for case in cases}
    by_name = {case.name: case for case in cases}
    while True:
        chance.shuffle(places)
        for case, name, value in places:
            drawn = {name: value}
            if chance.random() < SHARE_OF_TWO and len(by_name[case].arguments) > 1:
                other = chance.choice([one for one in by_name[case].arguments if one != name])
                drawn[other] = chance.choice(_values(by_name[case], other))
            if chance.random() < kept[case]:
                yield case, drawn


def _values(case: Case, name: str) -> list[str]:
    if name not in case.arguments:
        return ["2"]
    every = [*VALUES, *(f"valid: {one}" for one in twisted(_valid(case, name)))]
    return [value for value in every if (case.name, name, value) not in LEFT_OUT]


def _valid(case: Case, name: str) -> Any:
    argument = case.arguments[name]
    return None if argument.fresh else argument.valid


def made(case: Case, drawn: dict[str, str]) -> dict[str, Any]:
    return {
        name: twisted(_valid(case, name))[value.removeprefix("valid: ")]()
        if value.startswith("valid: ")
        else VALUES[value]()
        for name, value in drawn.items()
    }


# A child that makes calls ---------------------------------------------------------------------------------------------


class Late(BaseException):
    """The deadline of one call, in the midst of it."""


def child(todo: list[tuple[int, Draw]], told: Path) -> None:
    cases = {case.name: case for case in every_case()}
    answers: dict[str, Any] = {}
    pilot = (
        argosy.Pilot(ranks=2, name="hostile") if any(cases[name].group == "pilot" for _, (name, _) in todo) else None
    )
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_NBYTES, MOST_NBYTES))
    signal.signal(signal.SIGALRM, _late)
    faulthandler.enable()
    if any(cases[name].slow for _, (name, _) in todo):
        trainings.warm()
    with told.open("a") as file:
        for number, (name, drawn) in todo:
            _write(file, {"number": number})
            began = time.monotonic()
            signal.alarm(DEADLINE_SECONDS)
            try:
                verdict, said, where = _one(cases[name], drawn, answers)
            except Late:
                verdict, said, where = "hang", "no end within the deadline", ""
            finally:
                signal.alarm(0)
            if pilot is not None and not _works(pilot):
                verdict, said = "broken pilot", f"{verdict}: {said}"
                pilot = argosy.Pilot(ranks=2, name="hostile")
            _write(
                file,
                {"number": number, "verdict": verdict, "said": said, "where": where, "took": time.monotonic() - began},
            )
    if pilot is not None:
        pilot.close(cancel=True)


def _one(case: Case, drawn: dict[str, str], answers: dict[str, Any]) -> tuple[str, str, str]:
    def expected() -> Any:
        if case.name not in answers:
            valid = {name: argument.value() for name, argument in case.arguments.items()}
            result = case.call(**valid)
            answers[case.name] = None if case.finish is None else case.finish(result)
        return answers[case.name]

    told = judge(case, made(case, drawn), expected)
    return told.verdict, told.said, told.where


def _works(pilot: argosy.Pilot) -> bool:
    try:
        return bool(pilot.submit(pilots.double, 21).result(30) == 42)
    except Exception:
        return False


def _late(*_: Any) -> None:
    raise Late


def _write(file: Any, line: dict[str, Any]) -> None:
    file.write(json.dumps(line) + "\n")
    file.flush()


# The one that starts them ---------------------------------------------------------------------------------------------


def main(minutes: float, seed: int, calls: int | None = None, slow: float = SHARE_OF_SLOW) -> int:
    cases = every_case()
    groups = {case.name: case.group for case in cases}
    until = time.monotonic() + minutes * 60
    counts, by_case, findings, kinds = Counter[str](), Counter[str](), 0, Counter[tuple[str, str, str]]()
    stream = enumerate(draws(cases, seed, slow))
    begun = 0
    while (time.monotonic() < until if calls is None else begun < calls) and len(kinds) < MOST_FINDINGS:
        batch: dict[bool, list[tuple[int, Draw]]] = {True: [], False: []}
        for number, draw in stream:
            batch[groups[draw[0]] == "pilot"].append((number, draw))
            begun += 1
            if number % BATCH == BATCH - 1 or begun == calls:
                break
        for todo in batch.values():
            for number, (name, drawn), line in _watched(todo):
                verdict = line["verdict"]
                counts[verdict] += 1
                by_case[name] += 1
                if verdict not in GOOD:
                    findings += 1
                    kind = (verdict, name, line["where"] or line["said"][:60])
                    kinds[kind] += 1
                    if kinds[kind] == 1:
                        print(f"{number}: {verdict}: {name} {drawn}: {line['said']} {line['where']}", flush=True)
        if begun % 1000 < BATCH:
            print(f"arguments: {begun} calls, {findings} findings", flush=True)
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    print(f"arguments: {sum(counts.values())} calls of {len(by_case)} functions from seed {seed}: {told}")
    return 1 if findings else 0


def _watched(todo: list[tuple[int, Draw]]) -> Iterator[tuple[int, Draw, dict[str, Any]]]:
    """Each call with what became of it. A child that dies, hangs or grows is ended, and another goes on."""
    drawn = dict(todo)
    while todo:
        with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
            told, errors = Path(folder) / "told", Path(folder) / "errors"
            asked = Path(folder) / "asked"
            asked.write_text(json.dumps(todo))
            environment = os.environ | {"ARGOSY_RUNS": str(Path(folder) / "runs"), "TMPDIR": folder}
            with errors.open("wb") as stderr:
                process = subprocess.Popen(
                    [sys.executable, __file__, "--child", str(asked), "--told", str(told)],
                    stdin=subprocess.DEVNULL,
                    stdout=stderr,
                    stderr=stderr,
                    env=environment,
                    cwd=folder,
                    start_new_session=True,
                )
            why = _wait(process, told)
            lines = [json.loads(line) for line in told.read_text().splitlines()] if told.exists() else []
            ended = {line["number"]: line for line in lines if "verdict" in line}
            for number, line in ended.items():
                yield number, drawn[number], line
            open_ones = [line["number"] for line in lines if line["number"] not in ended]
            if why is not None or open_ones:
                number = open_ones[0] if open_ones else next((one for one, _ in todo if one not in ended), None)
                if number is not None:
                    said = errors.read_text(errors="replace")[-1500:]
                    ended[number] = {}
                    yield (
                        number,
                        drawn[number],
                        {"verdict": why or f"crash ({process.returncode})", "said": said, "where": ""},
                    )
            elif not ended:
                raise RuntimeError(errors.read_text(errors="replace")[-3000:])
            todo = [one for one in todo if one[0] not in ended]


def _wait(process: subprocess.Popen[bytes], told: Path) -> str | None:
    """Why it was ended; None where it ended by itself."""
    size, since = -1, time.monotonic()
    while process.poll() is None:
        time.sleep(0.05)
        now = told.stat().st_size if told.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        try:
            large = psutil.Process(process.pid).memory_info().rss > 2 * MOST_NBYTES
        except psutil.NoSuchProcess:
            continue
        if large or time.monotonic() - since > 3 * DEADLINE_SECONDS:
            family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
            for one in family:
                try:
                    one.kill()
                except psutil.NoSuchProcess:
                    continue
            process.wait()
            return "too much memory" if large else "hang"
    return None


def only(seed: int, number: int, slow: float) -> None:
    cases = {case.name: case for case in every_case()}
    for at, (name, drawn) in enumerate(draws(list(cases.values()), seed, slow)):
        if at == number:
            again: Callable[[], Any] = lambda: argosy.Pilot(ranks=2)  # noqa: E731
            pilot = again() if cases[name].group == "pilot" else None
            print(name, drawn, _one(cases[name], drawn, {}))
            if pilot is not None:
                print("the pilot works" if _works(pilot) else "the pilot is broken")
                pilot.close(cancel=True)
            return


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--calls", type=int)
    parser.add_argument("--only", type=int)
    parser.add_argument("--slow", type=float, default=SHARE_OF_SLOW, help="the share of slow calls that is kept")
    parser.add_argument("--child")
    parser.add_argument("--told")
    asked = parser.parse_args()
    if asked.child:
        child(
            [(number, (draw[0], draw[1])) for number, draw in json.loads(Path(asked.child).read_text())],
            Path(asked.told),
        )
        sys.exit(0)
    if asked.only is not None:
        only(asked.seed, asked.only, asked.slow)
        sys.exit(0)
    sys.exit(main(asked.minutes, asked.seed, asked.calls, asked.slow))
