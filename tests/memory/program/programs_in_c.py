"""Real programs for the tests, compiled by the system's C compiler."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

needs_valgrind = pytest.mark.skipif(
    shutil.which("valgrind") is None or shutil.which("cc") is None, reason="valgrind and a C compiler are needed"
)

HOT_AND_COLD = """\
#include <stdio.h>
#include <stdlib.h>
#define N 4096
static double table[N];
int main(int argc, char **argv) {
    double *cold = malloc(N * sizeof *cold);
    double *hot = malloc(N * sizeof *hot);
    double sum = 0;
    for (int i = 0; i < N; i++) cold[i] = hot[i] = i;
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < N; i++) sum += hot[i];
    for (int i = 0; i < N; i++) table[i] += sum;
    fprintf(stderr, "to stderr\\n");
    printf("%g\\n", sum + table[1]);
    fflush(stdout);
    if (argc > 2) abort();
    free(cold);
    free(hot);
    return argc > 1 ? atoi(argv[1]) : 0;
}
"""
COLD, HOT = "main (program.c:6)", "main (program.c:7)"
NBYTES = 4096 * 8

FOREVER = """\
#include <stdlib.h>
int main(void) {
    volatile char *bytes = malloc(8192);
    for (unsigned i = 0;; i++) bytes[i % 8192]++;
}
"""

SMALL = "int main(void) { return 0; }\n"

COMES_AND_GOES = """\
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static char *take(size_t nbytes) { return malloc(nbytes); }
int main(void) {
    char *one = take(20000);
    char *two = take(20000);
    memset(one, 1, 20000);
    for (int i = 0; i < 3; i++) { char *b = calloc(1, 30000); for (int j = 0; j < 5000; j++) b[j] = 1; free(b); }
    one = realloc(one, 500000);
    volatile char *map = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 65536; i += 64) map[i] = 1;
    munmap((char *)map, 65536);
    void *aligned = 0;
    if (posix_memalign(&aligned, 4096, 12288)) return 9;
    *(volatile char *)aligned = 1;
    char *also = aligned_alloc(64, 6400);
    *(volatile char *)also = 1;
    if (fork() == 0) { *(volatile char *)malloc(700000) = 1; _exit(0); }
    wait(0);
    char *last = malloc(9000);
    char *never = malloc(150000);
    two[0] = one[0];
    last[0] = one[0];
    return getenv("ARGOSY_EVENTS") || getenv("ARGOSY_PROGRAM") ? 5 : !never;
}
"""


def hide(monkeypatch: pytest.MonkeyPatch, *programs: str) -> None:
    """As if these were not installed."""
    really = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name in programs else really(name))


def compile_program(folder: Path, source: str, *flags: str) -> str:
    """Its path. `-O1 -g` unless other flags are given."""
    (folder / "program.c").write_text(source)
    path = folder / "program"
    options = flags or ("-O1", "-g")
    subprocess.run(["cc", *options, "-o", str(path), str(folder / "program.c")], check=True)
    return str(path)
