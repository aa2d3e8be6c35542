"""Where the work is done: on threads of this machine, or on a Dask cluster. Both give the same bytes.

Jobs read and write files of one private folder (`Store`), so that a table need not fit into memory, a job whose worker
was lost is simply run again, and one verb, ``map``, is all that an engine must offer. Sums over the table and global
order are jobs over a whole column; rows change places (into blocks, into the order of release) by what jobs write.
"""

from __future__ import annotations

from .base import Engine, Job, Report
from .dask import DaskEngine
from .local import LocalEngine
from .site import Here, Keeper, Site, open_site
from .store import Store

__all__ = ["DaskEngine", "Engine", "Here", "Job", "Keeper", "LocalEngine", "Report", "Site", "Store", "open_site"]
