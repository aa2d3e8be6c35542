"""What databases have in common: addresses, names of tables, and what can go wrong."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from ...errors import DataError, did_you_mean

__all__ = ["Address", "exists", "gone", "miscounted", "quoted", "shown", "temporary_name", "unchanged"]

_HOW = (
    "Write postgresql://user@host/database?table=name, IPv6 in brackets, and @ / ? # in a password as %40 %2F %3F %23."
)


@dataclass(frozen=True)
class Address:
    """A table of a database; printed without the password.

    >>> address = Address.parse("postgresql://ann:secret@db/hospital?table=stays&sslmode=require")
    >>> print(address, address.table)
    postgresql://ann@db/hospital?table=stays stays
    >>> address.connection
    'postgresql://ann:secret@db/hospital?sslmode=require'
    """

    connection: str
    shown: str
    place: str
    table: str

    @classmethod
    def parse(cls, where: str) -> Address:
        parts = _parts(where)
        options = parse_qsl(parts.query)
        tables = [value for key, value in options if key == "table"]
        user, _, host = parts.netloc.rpartition("@")
        name = user.partition(":")[0]
        shown = f"{parts.scheme}://{name + '@' if name else ''}{host}{parts.path}"
        if len(tables) != 1 or not tables[0]:
            raise DataError(f"{shown}: the address names no table.", hint="Add it at the end: ?table=name")
        rest = urlencode([(key, value) for key, value in options if key != "table"])
        connection = f"{parts.scheme}://{parts.netloc}{parts.path}{'?' + rest if rest else ''}"
        return cls(connection, f"{shown}?table={tables[0]}", parts.path[1:], tables[0])

    def __str__(self) -> str:
        return self.shown


def _parts(where: str) -> SplitResult:
    """The parts of an address; an error that tells no password if it is not as addresses are.

    >>> _parts("postgresql://ann:s3/cret@db/hospital?table=stays")
    Traceback (most recent call last):
    taxomask.errors.DataError: postgresql://…@db/hospital: the address cannot be read.
    Write postgresql://user@host/database?table=name, IPv6 in brackets, and @ / ? # in a password as %40 %2F %3F %23.
    """
    try:
        parts = urlsplit(where)
        _ = parts.port  # one that is no number is a ValueError
        if not parts.netloc or not ("@" in parts.path or parts.fragment):
            return parts
    except ValueError:
        pass
    scheme, _, rest = where.partition("://")
    _, at, host = rest.rpartition("@")
    raise DataError(
        f"{scheme}://{'…@' if at else ''}{host.partition('?')[0]}: the address cannot be read.",
        hint=_HOW,
    )


def shown(where: str) -> str:
    """A file or an address as others may see it: without the password.

    >>> shown("postgresql://ann:s3cret@db/hospital?table=stays&password=s3cret"), shown("a:b@c.csv")
    ('postgresql://ann@db/hospital?table=stays', 'a:b@c.csv')
    """
    if "://" not in where:
        return where
    try:
        return str(Address.parse(where))
    except DataError as error:
        return error.message.partition(": the address")[0]


def quoted(name: str) -> str:
    """A name as it stands in SQL.

    >>> print(quoted('length of "stay"'))
    "length of ""stay\"""
    """
    return '"' + name.replace('"', '""') + '"'


def temporary_name() -> str:
    """A name that no table has."""
    return f"taxomask_{secrets.token_hex(8)}"


def gone(address: Address, tables: Sequence[str]) -> DataError:
    hint = did_you_mean(address.table, tables) if tables else "The database holds no table."
    return DataError(f"{address}: there is no such table.", hint=hint)


def exists(address: Address) -> DataError:
    return DataError(f"{address} exists already.", hint="Choose another name, or overwrite it with force.")


def miscounted(address: Address, sent: int, found: int) -> DataError:
    return DataError(f"{address}: {sent:,} rows were sent, {found:,} arrived.", hint="Nothing was changed.")


def unchanged(address: Address, error: Exception) -> DataError:
    """A write that failed, and was undone by the database."""
    reason = str(error).strip().rstrip(".")
    return DataError(f"{address} cannot be written: {reason}.", hint="Nothing was changed in the database.")
