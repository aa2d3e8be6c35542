"""CSV and TSV files, also packed with gzip; written back in the dialect in which they came."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, TypeAlias

from ...errors import DataError
from .base import ArrowTable, Batches, Extra, Format, Source, Text, named, plain, texts_in
from .dialect import Dialect, recognise, unpacked
from .text_cells import armed_names, disarmed_names, lines, without_apostrophe, written

__all__ = ["FORMAT"]

Types: TypeAlias = dict[str, Any]  # pyarrow.DataType by column
_BLOCK = 4 << 20  # bytes that are parsed at a time; no row may be longer
_HINT = (
    "Every row must have as many cells as the header, which is the first line: remove titles above it, and put cells "
    "that contain the delimiter in quotes."
)


class _Delimited(Source):
    format = "csv"

    def __init__(self, path: Path, *, text: Text, safe_cells: bool) -> None:
        self._path = path
        head = recognise(path)
        self.dialect, self.above, self.header_row, raw = head.dialect, head.above, head.skipped + 1, head.names
        self.below, self._end = head.below, head.end
        if 2 * sum(bool(name.strip()) for name in raw) < len(raw):
            raise DataError(f"{path}: most columns have no name.", hint="Name them in the first line.")
        self._has_rows = head.rows
        super().__init__(path, named(armed_names(raw) if safe_cells else raw))
        self._safe_cells = safe_cells
        self._types = _as_text(self.names if text is True else self._chosen(text or ()))
        self._settled = set(self._types)  # columns whose type holds for the whole file
        if not head.paired and (fault := self._fault()):
            raise fault

    def _read(self, columns: list[str]) -> ArrowTable:
        return self._restored(self._until_types_fit(columns, lambda reader: reader.read_all()), columns)

    def _batches(self, rows: int, columns: list[str]) -> Batches:
        import pyarrow as pa

        if not self._settled.issuperset(columns):
            self._until_types_fit(columns, _run_through)
        schema = pa.schema([(name, self._types[name]) for name in columns])

        def pieces() -> Iterator[Any]:
            try:
                with self._reader(columns) as reader:
                    for batch in reader:
                        whole = self._restored(batch, columns)
                        yield from (whole.slice(start, rows) for start in range(0, whole.num_rows, rows))
            except pa.ArrowInvalid as error:  # the types fit, so that it can only be a row
                raise self._wrong_row(error) from None

        return pa.RecordBatchReader.from_batches(schema, pieces())

    def extras(self) -> Iterator[Extra]:
        """A text file holds names and cells; gzip may add a name and a comment."""
        with self._path.open("rb") as file:
            head = file.read(10)
            if head.startswith(b"\x1f\x8b") and head[3] & 0b11100:
                yield from texts_in(file.read(1 << 16).partition(b"\0\0")[0], "the header of gzip")

    def _restored(self, piece: Any, columns: list[str]) -> Any:
        """A table or batch with its own names and texts, without the apostrophes of safe cells."""
        import pyarrow as pa

        piece = piece.rename_columns(columns)
        if self._safe_cells:
            for place, field in enumerate(piece.schema):
                if pa.types.is_string(field.type):
                    piece = piece.set_column(place, field.name, without_apostrophe(piece.column(place)))
        return piece

    def _until_types_fit(self, columns: list[str], work: Any) -> Any:
        """Run some work on the file, with a wider type for a column whenever a value does not fit.

        The types come from the first block; a column of integers may hold text a gigabyte further down.
        """
        import pyarrow as pa

        while True:
            found: Types = {}
            try:
                with self._reader(columns) as reader:
                    found = dict(zip(columns, reader.schema.types, strict=True))
                    result = work(reader)
            except pa.ArrowInvalid as error:
                self._widen(error, self._types | found)
                continue
            self._types |= found
            self._settled.update(columns)
            return result

    def _widen(self, error: Exception, found: Types) -> None:
        """Give the column at fault a type that holds its values so far and the one that did not fit."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        fault = re.search(r"CSV column #(\d+): .*conversion error to .*: invalid value '(.*)'", str(error), re.DOTALL)
        if fault is None:
            raise self._wrong_row(error) from None
        name = self.names[int(fault[1])]
        cell = fault[2].replace('"', '""')
        alone = arrow_csv.read_csv(pa.BufferReader(f'a\n"{cell}"\n'.encode()), convert_options=self._conversion())
        self._types[name] = _common(found[name], alone.schema.types[0])

    def _wrong_row(self, error: Exception) -> DataError:
        return self._fault() or DataError(f"{self.where}: {error}.", hint=_HINT)

    def _conversion(self, columns: Sequence[str] = ()) -> Any:
        from pyarrow import csv as arrow_csv

        return arrow_csv.ConvertOptions(
            include_columns=list(columns),
            column_types={name: self._types[name] for name in columns if name in self._types},
            null_values=[""],
            strings_can_be_null=True,
            true_values=[],  # TRUE and true stay what they are
            false_values=[],
            decimal_point=self.dialect.decimal,
        )

    @contextmanager
    def _reader(self, columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        if not self._has_rows:
            nothing = pa.schema([(name, self._types.get(name, pa.null())) for name in columns])
            yield pa.RecordBatchReader.from_batches(nothing, [])
            return
        dialect = self.dialect
        with unpacked(self._path, self._end) as stream:
            stream.read(len(dialect.mark))
            if dialect.codec != "utf-8":
                stream = pa.transcoding_input_stream(stream, dialect.codec, "utf-8")
            yield arrow_csv.open_csv(
                stream,
                read_options=arrow_csv.ReadOptions(
                    block_size=_BLOCK,
                    use_threads=True,
                    column_names=self.names,
                    skip_rows=self.header_row - 1,
                    skip_rows_after_names=1,
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=dialect.delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=len(self.names) > 1,  # in a table of one column it is an empty cell
                ),
                convert_options=self._conversion(columns),
            )

    def _fault(self) -> DataError | None:
        """The first row that has too few or too many cells, or a quote that is not closed; looked for slowly."""
        with unpacked(self._path, self._end) as stream:
            stream.read(len(self.dialect.mark))
            file = io.TextIOWrapper(stream, self.dialect.codec, newline="")
            reader = csv.reader(file, delimiter=self.dialect.delimiter, strict=True)
            for _ in range(self.header_row - 1):
                file.readline()
            number, first = 0, self.header_row
            try:
                for number, row in enumerate(reader, start=1):
                    if row and len(row) != len(self.names):
                        return DataError(
                            f"{self.where}, line {first}: row {number - 1} has {len(row)} cells, "
                            f"the header has {len(self.names)}.",
                            hint=_HINT,
                        )
                    first = self.header_row + reader.line_num
            except csv.Error as error:
                if "unexpected end" in str(error) or "field limit" in str(error):
                    return DataError(
                        f"{self.where}, line {first}: in row {number} a quote is opened and not closed.",
                        hint='Close it, or write a quote inside a cell twice: "a ""word""".',
                    )
        return None


def _as_text(names: Sequence[str]) -> Types:
    import pyarrow as pa

    return dict.fromkeys(names, pa.string())


def _common(one: Any, other: Any) -> Any:
    """The narrowest type that holds the cells of two types as they are written; text holds them all."""
    import pyarrow as pa

    for kinds in (
        [pa.null(), pa.int64(), pa.float64()],
        [pa.null(), pa.date32(), pa.timestamp("s"), pa.timestamp("ns")],
        [pa.null(), pa.timestamp("s", "UTC"), pa.timestamp("ns", "UTC")],
        [pa.null(), pa.time32("s")],
    ):
        if one in kinds and other in kinds and one != other:
            return max(one, other, key=kinds.index)
    return pa.string()


def _run_through(reader: Any) -> None:
    for _ in reader:
        pass


def _open(path: Path, *, text: Text, safe_cells: bool) -> Source:
    return _Delimited(path, text=text, safe_cells=safe_cells)


def _write(batches: Batches, path: Path, *, like: Source | None, name: str, safe_cells: bool) -> None:
    import pyarrow as pa

    dialect = like.dialect if isinstance(like, _Delimited) else Dialect()
    if name.removesuffix(".gz").endswith((".tsv", ".tab")):
        dialect = replace(dialect, delimiter="\t")
    batches = plain(batches)
    header = disarmed_names(batches.schema.names) if safe_cells else batches.schema.names
    with _sink(path, packed=name.endswith(".gz")) as file:
        file.write(dialect.mark)
        file.write(lines([pa.array([cell]) for cell in header], [True] * len(header), dialect))
        for batch in batches:
            fields = list(zip(batch.columns, batch.schema.names, strict=True))
            columns = [written(array, column, dialect, safe_cells) for array, column in fields]
            textual = [pa.types.is_string(kind) for kind in batch.schema.types]
            file.write(lines(columns, textual, dialect))


@contextmanager
def _sink(path: Path, *, packed: bool) -> Iterator[IO[bytes]]:
    with path.open("wb") as file:
        if not packed:
            yield file
            return
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as inner:  # the same bytes every time
            yield inner  # type: ignore[misc]


FORMAT = Format("csv", (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz"), lambda start: True, _open, _write)
