"""The survey of sdcMicro, and its table of eight records."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv

import taxomask as tm

__all__ = ["FOLDER", "KEYS", "francdat", "survey", "survey_frame", "survey_schema"]

FOLDER = Path(__file__).parents[2] / "data" / "household_survey"
KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")


def francdat() -> tm.Microdata:
    frame = pyarrow.csv.read_csv(FOLDER / "francdat.csv").select(["Key1", "Key2", "Key3", "Key4", "w"])
    keys = [tm.Attribute(name, role="quasi_identifier", kind="nominal") for name in frame.column_names[:-1]]
    schema = tm.Schema([*keys, tm.Attribute("w", role="other", kind="continuous")], sampling_weight="w")
    return tm.Microdata.from_frame(frame, schema)


def survey_frame() -> pa.Table:
    return pyarrow.csv.read_csv(FOLDER / "testdata.csv.gz").select([*KEYS, "ori_hid", "sampling_weight"])


def survey_schema(*, household: bool = False) -> tm.Schema:
    return tm.Schema(
        [
            *(tm.Attribute(name, role="quasi_identifier", kind="nominal") for name in KEYS),
            tm.Attribute("ori_hid", role="identifier"),
            tm.Attribute("sampling_weight", role="other", kind="continuous"),
        ],
        sampling_weight="sampling_weight",
        household="ori_hid" if household else None,
    )


def survey(*, household: bool = False) -> tm.Microdata:
    return tm.Microdata.from_frame(survey_frame(), survey_schema(household=household))
