"""Samples of tables, arrays and Datasets: the right rows, over the same memory, or a clear error on every rank."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch.utils.data import Dataset, IterableDataset, TensorDataset

from argosy.comm.ranks import Alone, Ranks
from argosy.comm.threads import on_threads
from argosy.errors import BadData, PeerFailed, RanksDisagree, UnknownColumn
from argosy.train.data import Samples, check_classes, check_outputs, samples_of

torch.set_num_threads(1)
_FEW = settings(max_examples=40, deadline=None)


def _lists(values: NDArray[Any]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def _chunked(values: NDArray[Any], cuts: list[int]) -> pa.ChunkedArray:
    make = _lists if values.ndim == 2 else pa.array
    ends = sorted({0, len(values), *(cut % (len(values) + 1) for cut in cuts)})
    whole = make(values)
    return pa.chunked_array([whole.slice(a, b - a) for a, b in itertools.pairwise(ends)], whole.type)


def _of(data: Any, **options: Any) -> Samples:
    return samples_of(data, ranks=Alone(), **options)


def _all(samples: Samples) -> tuple[Any, Any]:
    return samples.batch(np.arange(len(samples)))


class TestTables:
    @_FEW
    @given(
        rows=st.integers(1, 60),
        cuts=st.lists(st.integers(0, 100), max_size=6),
        kind=st.sampled_from(["u1", "i2", "i4", "i8", "f2", "f4", "f8"]),
        draw=st.randoms(use_true_random=False),
    )
    def test_a_column_of_lists_gives_its_rows_however_it_is_chunked(
        self, rows: int, cuts: list[int], kind: str, draw: Any
    ) -> None:
        values = np.array([[draw.randrange(100) for _ in range(3)] for _ in range(rows)], kind)
        labels = np.array([draw.randrange(5) for _ in range(rows)])
        table = pa.table({"x": _chunked(values, cuts), "label": _chunked(labels, cuts[:2])})
        samples = _of(table)
        ids = np.array([draw.randrange(rows) for _ in range(20)])
        inputs, targets = samples.batch(ids)
        assert np.array_equal(inputs.numpy(), values[ids])
        assert inputs.numpy().dtype == ("f4" if kind == "f8" else kind)
        assert np.array_equal(targets.numpy(), labels[ids])
        assert targets.dtype == torch.int64
        assert samples.classes == tuple(sorted(set(labels.tolist())))
        assert samples.sharded

    @_FEW
    @given(rows=st.integers(1, 40), cuts=st.lists(st.integers(0, 100), max_size=5))
    def test_numbers_lists_and_booleans_lie_side_by_side(self, rows: int, cuts: list[int]) -> None:
        a, b, c = np.arange(rows), np.arange(2 * rows, dtype="f8").reshape(rows, 2), np.arange(rows) % 3 == 0
        features = {"a": _chunked(a, cuts), "b": _chunked(b, cuts[1:]), "c": _chunked(c, cuts[2:])}
        table = pa.table({**features, "y": _chunked(b[:, 1], cuts)})
        ids = np.arange(rows)[::-1].copy()
        inputs, labels = _of(table).batch(ids)
        assert inputs.dtype == labels.dtype == torch.float32
        assert np.array_equal(inputs.numpy(), np.column_stack([a, b, c]).astype("f4")[ids])
        assert np.array_equal(labels.numpy(), b[ids, 1].astype("f4"))

    def test_nothing_is_copied(self) -> None:
        table = pa.table({"x": _lists(np.ones((10, 4), "f4")), "label": np.arange(10)})
        before = pa.total_allocated_bytes()
        samples = _of(table)
        assert pa.total_allocated_bytes() == before
        address = table["x"].chunk(0).flatten().buffers()[1].address
        assert samples.inputs.columns[0].addresses.tolist() == [address]  # type: ignore[attr-defined]

    def test_lists_of_one_length_are_a_matrix_and_lists_of_lists_images(self) -> None:
        table = pa.table({"x": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).slice(1), "y": [0, 1]})
        assert _all(_of(table))[0].tolist() == [[3.0, 4.0], [5.0, 6.0]]
        images = pa.array([[[1, 2], [3, 4], [5, 6]]] * 2, pa.list_(pa.list_(pa.uint8(), 2), 3))
        inputs, _ = _all(_of(pa.table({"x": images, "y": [0, 1]})))
        assert inputs.shape == (2, 3, 2)
        assert inputs.dtype == torch.uint8

    def test_lists_of_unequal_length_are_refused_by_name_and_row(self) -> None:
        chunks = pa.chunked_array([pa.array([[1, 2], [3, 4]]), pa.array([[5, 6], [7]])])
        with pytest.raises(BadData, match=r"'x' has lists of unequal length: 2 values in the first row, 1 in row 3"):
            _of(pa.table({"x": chunks, "y": [0, 1, 0, 1]}))
        with pytest.raises(BadData, match="2 values in the first row, 3 in row 2"):
            _of(pa.table({"x": pa.chunked_array([[[1, 2]] * 2, [[1, 2, 3]]]), "y": [0, 1, 0]}))

    def test_booleans_are_learned_as_0_and_1(self) -> None:
        samples = _of(pa.table({"x": [1, 2, 3], "y": [True, False, True]}))
        assert _all(samples)[1].tolist() == [1.0, 0.0, 1.0]
        assert samples.classes is None

    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
    def test_names_are_classes_in_sorted_order_of_all_ranks(self, kind: Any) -> None:
        names = [["cat", "ant", "cat"], ["bee", "cat"], []]

        def run(ranks: Ranks) -> tuple[Any, ...]:
            own = pa.array(names[ranks.rank], pa.string()).cast(kind)
            samples = samples_of(pa.table({"x": np.ones(len(own)), "label": own}), ranks=ranks)
            return samples.classes, samples.num_classes, _all(samples)[1].tolist()

        classes = ("ant", "bee", "cat")
        assert on_threads(3, run) == [(classes, 3, [2, 0, 2]), (classes, 3, [1, 2]), (classes, 3, [])]

    def test_validation_samples_number_classes_as_training_does(self) -> None:
        train = _of(pa.table({"b": [1, 2, 3], "a": [4, 5, 6], "kind": ["x", "y", "z"]}), label="kind")
        valid = _of(pa.table({"kind": ["z", "x"], "a": [1, 2], "b": [3, 4]}), like=train)
        inputs, labels = _all(valid)
        assert labels.tolist() == [2, 0]
        assert inputs.tolist() == [[3, 1], [4, 2]]
        with pytest.raises(BadData, match="the validation data has classes that training never sees on any rank: 'w'"):
            _of(pa.table({"kind": ["w"], "a": [1], "b": [1]}), like=train)

    def test_nulls_are_counted_over_all_ranks(self) -> None:
        def run(ranks: Ranks) -> str:
            label = pa.array([None, 1, 2] if ranks.rank else [1, None, None])
            with pytest.raises(BadData) as failure:
                samples_of(pa.table({"x": [1, 2, 3], "label": label}), ranks=ranks)
            return str(failure.value)

        said = on_threads(2, run)
        assert said[0] == said[1]
        assert "'label' has nulls in 3 places, in 6 rows on all ranks" in said[0]
        assert 'filter(col("label").is_not_null())' in said[0]

    def test_nulls_inside_lists_are_found(self) -> None:
        lists = pa.array([[1.0, None], [3.0, 4.0]], pa.list_(pa.float64(), 2))
        with pytest.raises(BadData, match="'x' has nulls in 1 places"):
            _of(pa.table({"x": lists, "y": [0, 1]}))

    def test_columns_are_named_or_guessed(self) -> None:
        table = pa.table({"a": [1, 2], "b": [3, 4], "target": [0, 1]})
        assert _of(table).features == ("a", "b")
        assert _of(table, features="b").features == ("b",)
        assert _of(table, features=["b"], label="a").label == "a"
        with pytest.raises(UnknownColumn, match="did you mean 'target'"):
            _of(table, label="targe")
        with pytest.raises(BadData, match=r"no column is called label, target or y; .* there are: a, b"):
            _of(table.drop("target"))
        with pytest.raises(BadData, match="'a' is the label, and among the features as well"):
            _of(table, features=["a"], label="a")
        with pytest.raises(BadData, match="'name' is string, which a model cannot learn from"):
            _of(pa.table({"name": ["u", "v"], "y": [0, 1]}))

    def test_ranks_with_other_columns_widths_or_types_are_told_so(self) -> None:
        def run(ranks: Ranks, tables: list[pa.Table]) -> None:
            samples_of(tables[ranks.rank], ranks=ranks)

        one = pa.table({"x": _lists(np.ones((2, 3))), "y": [0, 1]})
        with pytest.raises(RanksDisagree, match="rank 1 has other columns than rank 0: z, y instead of x, y"):
            on_threads(2, run, [one, one.rename_columns(["z", "y"])])
        with pytest.raises(RanksDisagree, match=r"'x' is .* on rank 0, but int64 on rank 1"):
            on_threads(2, run, [one, pa.table({"x": [1, 2], "y": [0, 1]})])
        three, two = ({"x": [[1.0] * width] * 2, "y": [0, 1]} for width in (3, 2))
        with pytest.raises(BadData, match="rows of 3 values on rank 0, but of 2 on rank 1"):
            on_threads(2, run, [pa.table(three), pa.table(two)])


class TestOtherData:
    @_FEW
    @given(
        rows=st.integers(1, 50),
        kind=st.sampled_from(["u1", "i4", "f2", "f4", "f8", ">f4"]),
        step=st.sampled_from([1, -1, 2]),
    )
    def test_arrays_and_tensors_give_the_same_rows(self, rows: int, kind: str, step: int) -> None:
        values = (np.arange(rows * 4).reshape(rows, 2, 2) % 99).astype(kind)[::step]
        labels = np.arange(len(values)) % 7
        ids = np.arange(len(values))[::-1].copy()
        inputs, targets = _of((values, labels)).batch(ids)
        assert np.array_equal(inputs.numpy(), values[ids].astype("f4") if kind in ("f8", ">f4") else values[ids])
        assert targets.tolist() == labels[ids].tolist()
        native = torch.from_numpy(np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="))))
        data = TensorDataset(native.transpose(1, 2), torch.from_numpy(labels.astype("i4")))
        inputs, targets = _of(data).batch(ids)
        assert torch.equal(inputs, native.transpose(1, 2)[torch.from_numpy(ids)])
        assert targets.dtype == torch.int64

    def test_read_only_arrays_are_taken_as_they_are(self) -> None:
        values = np.ones((4, 2), "f4")
        values.flags.writeable = False
        assert _all(_of((values, [0, 1, 1, 0])))[0].tolist() == [[1, 1]] * 4

    def test_a_dict_has_names_as_a_table_does(self) -> None:
        samples = _of({"a": [1, 2], "b": torch.tensor([[3.0, 4.0], [5.0, 6.0]]), "y": np.array(["q", "p"])})
        inputs, labels = _all(samples)
        assert inputs.tolist() == [[1, 3, 4], [2, 5, 6]]
        assert labels.tolist() == [1, 0]
        assert samples.classes == ("p", "q")
        assert not samples.sharded

    def test_data_frames_become_tables_that_all_ranks_have(self) -> None:
        columns = {"a": [1.0, 2.0], "label": [0, 1]}
        for frame in (pd.DataFrame(columns), pl.DataFrame(columns)):
            samples = _of(frame)
            assert not samples.sharded
            assert _all(samples)[0].tolist() == [[1.0], [2.0]]

    def test_a_dataset_is_read_item_by_item(self) -> None:
        class Squares(Dataset):  # type: ignore[type-arg]
            targets = (0, 1, 1)

            def __len__(self) -> int:
                return 3

            def __getitem__(self, i: int) -> tuple[Any, int]:
                return torch.tensor([float(i * i)]), self.targets[i]

        samples = _of(Squares())
        inputs, labels = samples.batch(np.array([2, 0]))
        assert (inputs.tolist(), labels.tolist()) == ([[4.0], [0.0]], [1, 0])
        assert samples.classes == (0, 1)

    def test_what_cannot_be_learned_from_is_refused(self) -> None:
        class Stream(IterableDataset):  # type: ignore[type-arg]
            def __iter__(self) -> Any:
                return iter(())

        with pytest.raises(BadData, match="Stream is an IterableDataset"):
            _of(Stream())
        with pytest.raises(BadData, match="there are 3 inputs but 2 labels"):
            _of((np.ones((3, 2)), np.ones(2)))
        with pytest.raises(BadData, match="an array of object is nothing a model can learn from"):
            _of((np.array(["a", None]), np.ones(2)))
        with pytest.raises(BadData, match="the inputs have rows of unequal length"):
            _of(([[1, 2], [3]], [0, 1]))
        with pytest.raises(BadData, match="'y' is of half precision"):
            _of(pa.table({"x": [1.0], "y": np.ones(1, "f2")}))
        with pytest.raises(BadData, match="cannot learn from int"):
            _of(3)
        with pytest.raises(IndexError, match="row 5 of 3 samples"):
            _of((np.ones((3, 2)), np.ones(3))).batch(np.array([5]))

    def test_masked_values_are_not_learned_from_as_if_they_were_there(self) -> None:
        some = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
        none = np.ma.array([0, 1])
        with pytest.raises(BadData, match=r"the inputs have masked values; fill them \(`.filled\(0\)`\)"):
            _of((some, none))
        with pytest.raises(BadData, match="the labels have masked values"):
            _of((some.filled(0), np.ma.array([0, 1], mask=[True, False])))
        with pytest.raises(BadData, match="'x' have masked values"):
            _of({"x": some, "label": [0, 1]})
        assert _all(_of((some.filled(0), none)))[0].tolist() == [[1, 0], [3, 4]]

    def test_arrays_in_the_order_of_fortran_are_read_by_rows(self) -> None:
        inputs, _ = _all(_of((np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]), [0, 1])))
        assert inputs.tolist() == [[1, 2], [3, 4]]

    def test_ranks_that_hold_different_samples_are_told_so(self) -> None:
        with pytest.raises(RanksDisagree, match="they have 2, 3 of them"):
            on_threads(
                2, lambda ranks: samples_of((np.ones((2 + ranks.rank, 1)), np.ones(2 + ranks.rank)), ranks=ranks)
            )

    def test_an_error_on_one_rank_ends_all(self) -> None:
        class Broken:
            def __len__(self) -> int:
                raise OSError("no such disk")

            def __getitem__(self, i: int) -> Any: ...

        def run(ranks: Ranks) -> type[BaseException] | None:
            try:
                samples_of(Broken() if ranks.rank == 1 else (np.ones((2, 1)), np.ones(2)), ranks=ranks)
            except (OSError, PeerFailed) as error:
                return type(error)
            return None

        assert on_threads(3, run) == [PeerFailed, OSError, PeerFailed]


class TestClasses:
    def test_classes_that_training_never_sees_are_named(self) -> None:
        train = _of((np.ones((3, 1)), np.array([0, 1, 3])))
        valid = _of((np.ones((3, 1)), np.array([0, 2, 7])))
        check_classes(train, train)
        with pytest.raises(BadData, match="training never sees on any rank: 2, 7"):
            check_classes(train, valid)

    def test_a_class_that_any_rank_trains_on_is_seen(self) -> None:
        def run(ranks: Ranks) -> tuple[Any, ...]:
            own = pa.table({"x": [1.0, 1.0], "y": [ranks.rank, 5 + ranks.rank]})
            train = samples_of(own, ranks=ranks)
            check_classes(train, samples_of(pa.table({"x": [1.0], "y": [6]}), ranks=ranks))
            return train.classes, train.num_classes

        assert on_threads(2, run) == [((0, 1, 5, 6), 7)] * 2

    def test_class_numbers_below_0_are_refused(self) -> None:
        with pytest.raises(BadData, match="the training data has class -1, but classes are numbered from 0"):
            check_classes(_of((np.ones((2, 1)), np.array([-1, 1]))))

    def test_a_label_beyond_the_outputs_is_refused(self) -> None:
        check_outputs(9, 10)
        with pytest.raises(BadData, match="there is a class 10, but the model has 10 outputs"):
            check_outputs(10, 10)
