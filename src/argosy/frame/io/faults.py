"""What pyarrow and the system say of a file, as an error that names the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from argosy.errors import BadFile


@contextmanager
def reading(path: str, what: str) -> Iterator[None]:
    """Whatever fails in here because of the file is a BadFile. `what` is the format: "a Parquet file"."""
    try:
        yield
    except FileNotFoundError as error:
        raise BadFile(path, "the file is gone; it was there when it was looked for") from error
    except PermissionError as error:
        raise BadFile(path, "this user may not read the file") from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise BadFile(path, f"cannot be read as {what}: {_first_lines(error)}") from error


def _first_lines(error: BaseException) -> str:
    """Without the place in pyarrow's own source that it adds to some messages."""
    return str(error).split("Detail:")[0].strip().rstrip(".")[:500] or type(error).__name__
