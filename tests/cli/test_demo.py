from __future__ import annotations

import re

import pytest

from taxomask.cli import main


def test_demo_protects_real_discharges(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["demo", "--k", "4"])
    out = capsys.readouterr().out
    assert not end.value.code
    assert re.search(r"codes in the taxonomy +2,000 \(100\.0 %\)", out)
    assert "holds: at least k = 4 records share every combination of age, sex, region, n_beds, care_days, dx01" in out
    losses = dict(re.findall(r"^ *(\w+) +(?:continuous|ordinal|nominal|taxonomic) +[\d,.]+ +([\d.]+)", out, re.M))
    assert set(losses) == {"age", "sex", "region", "n_beds", "care_days", "dx01"}
    assert all(0 < float(loss) < 100 for loss in losses.values())


def test_demo_refuses_a_bad_k(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["demo", "--k", "1"])
    assert end.value.code == 2
    assert "k must be an integer of at least 2; got 1." in capsys.readouterr().err
