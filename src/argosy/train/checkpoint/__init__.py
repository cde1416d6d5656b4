"""A training run on disk: written by all ranks at once, whole or not there at all, and read back bit for bit.

tree         nested values as JSON, and the tensors and arrays that they hold
leaves       a tensor or an array as raw bytes, and back
contents     a state: its tree, and the form of each of its leaves
layout       where the bytes of each leaf lie, and which of them a rank writes (pure)
part         the file of one rank
rows         tensors that are divided over ranks, which no rank ever has whole
manifest     what belongs to a checkpoint, with sizes and checksums
folder       the names on disk; one rename makes a checkpoint
fingerprint  whether two models are of the same shape, and where they differ (pure)
checksum     of what is written and read
save, load   what all ranks do together
checkpoints  the checkpoints of a run
"""

from argosy.train.checkpoint.checkpoints import Checkpoints
from argosy.train.checkpoint.fingerprint import describe, fingerprint_of
from argosy.train.checkpoint.load import CheckpointSkipped, Loaded
from argosy.train.checkpoint.rows import Rows, StoredRows, made_whole

__all__ = [
    "CheckpointSkipped",
    "Checkpoints",
    "Loaded",
    "Rows",
    "StoredRows",
    "describe",
    "fingerprint_of",
    "made_whole",
]
