"""Reading taxonomies: one file per format, recognised from its content.

To add a format, write one file with

1. ``recognises(source)``: whether the text at hand (``source.head``) is in this format;
2. ``read(source, *, …) -> Listing``: the concepts and is-a edges in the order of the file; its keyword-only
   parameters are the options of the format; raise ``source.error(message, line=…, hint=…)`` on bad input;
3. ``READER = Reader("name", "what it is", recognises, read)``;

and add one line to ``READERS`` below. Readers check what only they can see (syntax, contradictory lines);
duplicate concepts, missing parents, cycles and roots are checked once, for all formats, by the taxonomy.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from os import PathLike

from ..._support import apart
from ...errors import TaxonomyError, did_you_mean
from ..listing import Listing
from . import edges, levels, obo, owl, prefix, rf2, skos
from ._base import Reader, Source

__all__ = ["READERS", "Reader", "Source", "read_listing"]

READERS: dict[str, Reader] = {  # in the order in which they are tried
    "rf2": rf2.READER,
    "obo": obo.READER,
    "skos": skos.READER,
    "owl": owl.READER,
    "edges": edges.READER,
    "levels": levels.READER,
    "prefix": prefix.READER,
}


def read_listing(
    path: str | PathLike[str], format: str | None = None, *, encoding: str | None = None, **options: object
) -> Listing:
    """Read the concepts and is-a edges of a file, or of a SNOMED CT folder.

    Parameters
    ----------
    path
        The file, also packed with gzip, or the folder.
    format
        One of the names in ``READERS``; recognised from the content if not given.
    encoding
        The encoding of the text, if it is not UTF-8.
    options
        The options of the format, such as ``parent=``; an unknown one is an error.

    Examples
    --------
    >>> from taxomask.taxonomy import builtin
    >>> listing = read_listing(builtin.path("isco08"))
    >>> len(listing.ids), listing.children[4], listing.parents[4]
    (620, '02', '0')
    """
    source = Source(path, encoding)
    reader = _recognised(source, options) if format is None else _named(format)
    reader.check_options(source, options)
    listing = _read(reader, source, options)
    if not listing.ids:
        raise source.error("holds no concept", hint=f"It was read in the format {reader.name!r}.")
    return listing


def _read(reader: Reader, source: Source, options: Mapping[str, object]) -> Listing:
    if not reader.fragile or apart.trusted():
        return reader.read(source, **options)
    try:  # without what was read of the file so far
        return apart.call(partial(reader.read, Source(source.path, source.encoding), **options))
    except apart.BrokenDownError as error:
        message, hint = error.over(source.name)
        raise TaxonomyError(message, hint=hint) from None


def _named(format: str) -> Reader:
    if format not in READERS:
        hint = did_you_mean(str(format), READERS)
        raise TaxonomyError(f"There is no taxonomy format {format!r}.", hint=hint)
    return READERS[format]


def _recognised(source: Source, options: Mapping[str, object]) -> Reader:
    for reader in READERS.values():
        if reader.recognises(source) or (reader is edges.READER and edges.names_columns(source, options)):
            return reader
    formats = ", ".join(f"{reader.name} ({reader.about})" for reader in READERS.values())
    hint = f"Name its columns of concepts and of parents (concept=, parent=), or its format (format=): {formats}."
    raise source.error("the format of the taxonomy is not recognised", hint=hint)
