"""Objects are called after the line that allocated them."""

from __future__ import annotations

from argosy.memory.program.events import Found, Frame
from argosy.memory.program.naming import Static, name_objects, parse_addr2line, parse_nm

OWN, OUTER, OTHER_OUTER, LIBRARY = Frame("", 1), Frame("", 2), Frame("", 3), Frame("/lib/libx.so", 4)
PLACES = {
    OWN: [("grow", "/usr/include/c++/12/vector.h:90"), ("make", "/home/me/grid.c:7")],
    OUTER: [("main", "/home/me/solver.c:20")],
    OTHER_OUTER: [("main", "/home/me/solver.c:21")],
    LIBRARY: [("x_open", "")],
}


def found(*frames, nbytes=1 << 20):
    return Found(frames=frames, peak_nbytes=nbytes)


def test_the_innermost_line_of_the_program_itself_is_the_name():
    assert name_objects([found(LIBRARY, OWN, OUTER)], PLACES) == ["make (grid.c:7)"]


def test_who_called_is_told_where_one_line_allocates_for_several():
    two = [found(OWN, OUTER), found(OWN, OTHER_OUTER)]
    assert name_objects(two, PLACES) == ["make (grid.c:7) from solver.c:20", "make (grid.c:7) from solver.c:21"]


def test_equal_names_are_numbered():
    assert name_objects([found(OUTER), found(OUTER)], PLACES) == ["main (solver.c:20)", "main (solver.c:20) #2"]


def test_without_lines_the_size_is_told_and_without_symbols_the_number():
    assert name_objects([found(OUTER, nbytes=8192)], {OUTER: [("main", "")]}) == ["main (8.0 KiB)"]
    stripped = [found(LIBRARY, OUTER), found(OTHER_OUTER, nbytes=4 << 20)]
    assert name_objects(stripped, {LIBRARY: [("operator new", "")]}) == ["heap#1 (1.0 MiB)", "heap#2 (4.0 MiB)"]


def test_a_library_that_allocates_for_itself_is_named():
    assert name_objects([Found(name="other"), found(LIBRARY)], PLACES) == ["other", "x_open (1.0 MiB)"]


def test_addr2line_is_read_with_inlined_functions():
    text = """0x0000000000001186
grow
/usr/include/v.h:90
main
/home/me/two.c:7 (discriminator 3)
0x0000000000001234
??
??:0
0x0000000000001300
main
/home/me/two.c:?
"""
    assert parse_addr2line(text) == {
        0x1186: [("grow", "/usr/include/v.h:90"), ("main", "/home/me/two.c:7")],
        0x1234: [("", "")],
        0x1300: [("main", "")],
    }


def test_nm_tells_of_large_arrays_only_and_of_an_alias_once():
    text = """0000000000004060 0000000000010000 b table
0000000000001139 0000000000004000 T main
0000000000014060 0000000000000008 b small
0000000000004060 0000000000010000 B also_table
                 U malloc
0000000000002000 0000000000002000 r constants [clone .x]
"""
    assert parse_nm(text, 4096) == [Static("table", 0x4060, 0x10000), Static("constants [clone .x]", 0x2000, 0x2000)]
