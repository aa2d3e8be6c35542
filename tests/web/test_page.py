"""The page in a real Chromium."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taxomask import examples
from taxomask.web.opening import open_page

from .browser import accessible, chromium, opened
from .client import Server

HOSTILE = "<script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(2)>"
ALL_BUT_MICROAGGREGATION = (
    "Microaggregation, refined",
    "Micro hybrid",
    "Group permutation",
    "Generalisation",
    "Rank swapping",
    "Shuffling",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def try_example(page: Any) -> None:
    page.get_by_role("button", name="Try the example").click()
    page.get_by_role("heading", name="What are the columns?").wait_for()


def protect(page: Any) -> None:
    page.get_by_role("button", name="Protect the table").click()


def looked(page: Any) -> None:
    page.get_by_role("heading", name="What did it cost, and what does it risk?").wait_for()


def role(page: Any, column: str, label: str) -> Any:
    return page.get_by_role("region", name=column, exact=True).get_by_label(label, exact=True)


def downloaded(page: Any, name: str, folder: Path) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("link", name=f"Download {name}").click()
    target = folder / name
    waiting.value.save_as(target)
    return target.read_bytes()


def test_the_whole_journey_gives_the_very_files_of_the_command_line(
    server: Server, browser: Any, tmp_path: Path
) -> None:
    with opened(browser, server) as page:
        page.get_by_role("heading", name="Which table do you want to protect?").wait_for()
        assert accessible(page) == []
        try_example(page)
        for column in ("n_beds", "care_days"):
            role(page, column, "Quasi-identifier").check()
        page.get_by_text("100.0 %").nth(1).wait_for()
        assert page.get_by_text("6 quasi-identifiers").is_visible()
        page.get_by_role("button", name="Browse the tree").first.click()
        page.get_by_role("dialog").get_by_role("searchbox").fill("type II diabetes")
        page.get_by_role("dialog").get_by_text("found").wait_for()
        page.get_by_role("button", name="Close").click()

        page.get_by_role("button", name="Next: protect it").click()
        page.get_by_role("link", name="Compare methods").click()
        for method in ALL_BUT_MICROAGGREGATION:
            page.get_by_label(method, exact=True).uncheck()
        page.get_by_role("button", name="Compare", exact=True).click()
        page.locator("[data-point]").first.wait_for()  # while others are still on their way
        page.get_by_role("heading", name="Comparing").wait_for(state="detached")
        page.locator("[data-point]").nth(3).wait_for()
        assert page.locator("[data-point]").count() == 4
        page.get_by_role("slider", name="Acceptable risk").fill("0.1")
        page.get_by_text("have a risk of at most 0.1").wait_for()
        page.get_by_role("button", name="microaggregation(k=10)").first.press("Enter")
        assert page.locator(".chosen-point").get_by_text("smallest class").is_visible()
        assert page.locator(".chosen-point").get_by_role("heading").inner_text() == "Microaggregation, k 10"
        assert page.locator(".chosen-point").get_by_text("knows the method", exact=True).is_visible()
        assert "microaggregation(" not in page.locator(".best, .chosen-point").all_inner_texts()[0]
        page.locator(".chosen-point").get_by_role("button", name="Use this one").click()

        page.get_by_role("heading", name="How should it be protected?").wait_for()
        assert page.get_by_label("k", exact=True).input_value() == "10"
        assert accessible(page) == []
        protect(page)
        looked(page)
        page.get_by_text("Every promise holds").wait_for()
        page.get_by_text("Among the methods that were compared").wait_for()
        page.locator("[data-point]").first.wait_for()
        page.get_by_role("heading", name="Column by column").evaluate("one => one.scrollIntoView()")

        page.get_by_role("button", name="Next: release it").click()
        page.get_by_role("heading", name="Ready to release").wait_for()
        assert accessible(page) == []
        page.get_by_text("The report", exact=True).click()
        frame = page.frame_locator("iframe")
        frame.get_by_role("heading", name="Report of a protected table").wait_for()
        names = ("protected.csv.gz", "protected.note.md", "protected.audit.json", "report.html", "plan.yaml")
        got = {name: downloaded(page, name, tmp_path) for name in names}
        command = page.locator(".command").inner_text()

    again = tmp_path / "again"
    again.mkdir()
    shutil.copy(examples.path(), again / "discharges.csv.gz")
    (again / "plan.yaml").write_bytes(got["plan.yaml"])
    program = "from taxomask.cli import main; main()"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))}
    subprocess.run([sys.executable, "-c", program, *command.split()[1:], "--quiet"], cwd=again, env=path, check=True)
    for name in ("protected.csv.gz", "protected.note.md", "report.html"):
        made = [re.sub(rb"\d{4}-\d\d-\d\d", b"a day", one) for one in (got[name], (again / name).read_bytes())]
        assert made[0] == made[1], name  # but for the day, if it is midnight
    assert gzip.decompress(got["protected.csv.gz"]).count(b"\n") == 2001


def test_a_hostile_table_is_shown_as_text(server: Server, browser: Any, tmp_path: Path) -> None:
    header = [HOSTILE, IMAGE, "javascript:alert(3)", "__proto__", "constructor", "{{7*7}}"]
    values = (HOSTILE, IMAGE, "'; DROP TABLE x", "=1+1")
    rows = [[i % 7, values[i % 4], "ab"[i % 2] + IMAGE, i % 5, f"x{i % 3}", "y"] for i in range(60)]
    lines = [",".join(f'"{cell}"' for cell in row) for row in [header, *rows]]
    path = tmp_path / "<img src=x onerror=alert(4)>.csv"
    path.write_text("\n".join(lines) + "\n")
    with opened(browser, server) as page:
        page.set_input_files("#file", path)
        page.get_by_role("heading", name="What are the columns?").wait_for()
        assert page.get_by_role("heading", name=HOSTILE, exact=True).count() == 1
        role(page, HOSTILE, "Quasi-identifier").check()
        role(page, IMAGE, "Quasi-identifier").check()
        role(page, "javascript:alert(3)", "Confidential").check()
        page.get_by_label(f"Kind of {IMAGE}").select_option("taxonomic")
        assert page.get_by_label(f"Taxonomy of {IMAGE}").input_value() == ""  # none is chosen by itself
        page.get_by_label(f"Taxonomy of {IMAGE}").select_option("icd9cm")
        page.get_by_role("cell", name=HOSTILE).first.wait_for()  # among the values that do not map
        page.get_by_label(f"Values of {IMAGE} that are not in the taxonomy").select_option("root")
        page.get_by_label(f"Kind of {IMAGE}").select_option("nominal")
        for name in ("__proto__", "constructor", "{{7*7}}"):
            role(page, name, "Other").check()
        page.get_by_role("button", name="Next: protect it").click()
        page.get_by_text("More settings").click()
        assert page.get_by_label(HOSTILE, exact=True).is_visible()
        protect(page)
        looked(page)
        page.get_by_role("rowheader", name=HOSTILE, exact=True).first.wait_for()
        assert page.locator("main script, main img, [onerror]").count() == 0
        page.get_by_role("button", name="Next: release it").click()
        page.get_by_text("The public note", exact=True).click()
        assert HOSTILE in page.locator(".note").inner_text()
        page.get_by_text("The report", exact=True).click()
        page.frame_locator("iframe").get_by_role("heading", name="Report of a protected table").wait_for()
        assert page.frame_locator("iframe").locator("img, [onerror]").count() == 0


def test_codes_that_do_not_map_are_fixed(server: Server, browser: Any, tmp_path: Path) -> None:
    codes = ["a1", "a2", "b1", "B2", "zz"]
    table, taxonomy = tmp_path / "stays.csv", tmp_path / "own codes.csv"
    table.write_text("age,code\n" + "".join(f"{20 + i % 9},{codes[i % 5]}\n" for i in range(50)))
    taxonomy.write_text("id,parent,label\nr,,All\na,r,A\nb,r,B\na1,a,A one\na2,a,A two\nb1,b,B one\nb2,b,B two\n")
    with opened(browser, server) as page:
        page.set_input_files("#file", table)
        page.get_by_label("Kind of code").select_option("taxonomic")
        column = page.get_by_role("region", name="code", exact=True)
        column.locator("input[type=file]").set_input_files(taxonomy)
        column.get_by_text("60.0 %").wait_for()
        assert page.get_by_label("Taxonomy of code").input_value() == "own codes.csv"
        column.get_by_label("ignore case").check()
        column.get_by_text("80.0 %").wait_for()
        column.get_by_role("button", name="zz means missing").click()
        column.get_by_text("100.0 %").wait_for()
        assert column.get_by_text("Missing: empty cells, zz").is_visible()
        column.get_by_role("button", name="Browse the tree").click()
        page.get_by_role("dialog").get_by_text("B", exact=True).last.click()
        page.get_by_role("dialog").get_by_text("B two").wait_for()
        page.get_by_role("button", name="Close").click()
        role(page, "code", "Quasi-identifier").check()
        page.get_by_role("button", name="Next: protect it").click()
        protect(page)
        looked(page)
        page.get_by_text("along its taxonomy").wait_for()


def test_what_was_not_recognised_comes_first_and_has_to_be_decided(
    server: Server, browser: Any, tmp_path: Path
) -> None:
    table = tmp_path / "stays.csv"
    table.write_text("age,x,y\n" + "".join(f"{20 + i % 9},{i % 4},{i % 3}\n" for i in range(50)))
    with opened(browser, server) as page:
        page.set_input_files("#file", table)
        page.get_by_role("heading", name="What are the columns?").wait_for()
        assert page.locator(".column h2").all_inner_texts() == ["x", "y", "age"]
        assert page.get_by_text("2 undecided").is_visible()
        assert accessible(page) == []
        page.get_by_role("button", name="Next: protect it").click()
        protect(page)
        page.get_by_role("alert").get_by_text("the roles of 2 columns are undecided: 'x', 'y'.").wait_for()
        page.go_back()
        role(page, "x", "Confidential").check()
        role(page, "y", "Other").check()
        assert page.get_by_text("0 undecided").is_visible()
        page.get_by_role("button", name="Next: protect it").click()
        protect(page)
        looked(page)
        page.errors[:] = [one for one in page.errors if "400" not in one]  # Chromium notes answers that say no


def test_what_lets_something_out_can_follow_be_left_out_or_be_accepted(
    server: Server, browser: Any, tmp_path: Path
) -> None:
    table = tmp_path / "stays.csv"
    codes = [(7 * i + i // 9) % 12 for i in range(300)]
    rows = [f"{20 + i % 31},D{code:02},disease {code},code {code}!,ward {code}" for i, code in enumerate(codes)]
    table.write_text("age,dx,dx_text,dx_long,ward\n" + "\n".join(rows) + "\n")
    with opened(browser, server) as page:
        page.set_input_files("#file", table)
        page.get_by_role("heading", name="What are the columns?").wait_for()
        role(page, "age", "Confidential").check()
        role(page, "dx", "Quasi-identifier").check()
        page.get_by_label("Kind of dx", exact=True).select_option("nominal")
        for name in ("dx_text", "dx_long", "ward"):
            role(page, name, "Other").check()
            page.get_by_label(f"What {name} follows").select_option("")
        page.get_by_role("button", name="Next: protect it").click()
        page.get_by_label("Pram", exact=False).first.check()
        protect(page)
        page.get_by_role("heading", name="Something else lets it out").wait_for()
        assert accessible(page) == []
        assert page.locator(".leak h2").all_inner_texts() == ["dx_text", "dx_long", "ward"]
        page.reload()  # what was found is found again
        page.get_by_role("heading", name="Something else lets it out").wait_for()
        again = page.get_by_role("button", name="Protect it again")
        page.get_by_role("region", name="dx_text").get_by_label("Let it follow dx").check()
        page.get_by_role("region", name="dx_long").get_by_label("Leave it out").check()
        page.get_by_role("region", name="ward").get_by_label("Accept it").check()
        again.click()
        page.get_by_role("alert").get_by_text("Say what to do about ward.").wait_for()  # no reason yet
        page.get_by_label("Why ward may be released nevertheless").fill("wards are public")
        again.click()
        looked(page)
        page.get_by_text("Accepted: ward: wards are public.").first.wait_for()
        page.get_by_role("button", name="Next: release it").click()
        lines = downloaded(page, "protected.csv", tmp_path).decode().split("\n")[:-1]
        assert lines[0] == "age,dx,dx_text,ward"
        cells = [line.split(",") for line in lines[1:]]
        assert all(text == f"disease {int(code[1:])}" for _, code, text, _ in cells)
        assert not all(ward == f"ward {int(code[1:])}" for _, code, _, ward in cells)
        assert b"wards are public" in downloaded(page, "protected.note.md", tmp_path)
        plan = downloaded(page, "plan.yaml", tmp_path).decode()
        assert "follows: dx" in plan
        assert "wards are public" in plan
        page.goto(f"{server.origin}/#/describe/{page.url.split('/')[5]}")
        assert page.get_by_label("What dx_text follows").input_value() == "dx"


def test_decimals_of_a_column(server: Server, browser: Any, tmp_path: Path) -> None:
    table = tmp_path / "ages.csv"
    table.write_text("age\n" + "".join(f"{20 + i * i // 3}\n" for i in range(50)))
    with opened(browser, server) as page:
        page.set_input_files("#file", table)
        role(page, "age", "Quasi-identifier").check()
        page.get_by_label("Decimals of age").fill("1")
        page.get_by_label("Decimals of age").blur()
        page.get_by_role("button", name="Next: protect it").click()
        protect(page)
        looked(page)
        page.get_by_role("button", name="Next: release it").click()
        rows = downloaded(page, "protected.csv", tmp_path).decode().split()[1:]
        assert {len(row.partition(".")[2]) for row in rows} == {1}
        assert b"decimals: 1" in downloaded(page, "plan.yaml", tmp_path)


def test_whose_a_row_is(server: Server, browser: Any, tmp_path: Path) -> None:
    """Twelve people with five equal rows each: proposed, counted, and kept in the plan."""
    table = tmp_path / "visits.csv"
    rows = [f"p{row // 5},h{row // 20},{30 + row // 5}" for row in range(60)]
    table.write_text("\n".join(["patient_id,household_id,age", *rows]))
    with opened(browser, server) as page:
        page.get_by_label("Choose a file").set_input_files(table)
        page.get_by_role("heading", name="What are the columns?").wait_for()
        people = page.get_by_role("region", name="Whose is a row?")
        assert people.get_by_label("The person of a row").input_value() == "patient_id"
        assert people.get_by_label("The household of a row").input_value() == "household_id"
        people.get_by_label("The household of a row").select_option("")
        assert people.get_by_text("k different people").is_visible()
        role(page, "household_id", "Other").check()
        assert people.get_by_label("The household of a row").locator("option").count() == 2
        role(page, "household_id", "Identifier").check()
        page.reload()
        assert people.get_by_label("The household of a row").input_value() == ""
        assert people.get_by_label("For how many people a row stands").locator("option").count() == 2
        people.get_by_label("How many people the population has").fill("600")
        people.get_by_label("How many people the population has").blur()
        page.reload()
        assert people.get_by_label("How many people the population has").input_value() == "600"
        assert accessible(page) == []
        page.get_by_role("button", name="Next: protect it").click()
        protect(page)
        looked(page)
        assert page.get_by_text("at least k = 5 different people share every combination of age").first.is_visible()
        page.get_by_role("button", name="Next: release it").click()
        assert b"population_size: 600" in downloaded(page, "plan.yaml", tmp_path)


def test_reload_cancel_and_error(server: Server, browser: Any) -> None:
    with opened(browser, server) as page:
        try_example(page)
        role(page, "race", "Other").check()
        page.get_by_role("button", name="Next: protect it").click()
        page.get_by_label("k", exact=True).fill("1")
        page.reload()  # what was decided is found again
        assert page.get_by_label("k", exact=True).input_value() == "1"
        assert "race" not in page.locator(".lead").inner_text()
        protect(page)
        page.get_by_role("alert").get_by_text("k must be an integer of at least 2; got 1.").wait_for()
        page.get_by_label("k", exact=True).fill("5")
        page.get_by_text("More settings").click()
        page.get_by_label("Algorithm").select_option("refined")
        page.get_by_role("spinbutton", name="Steps").fill("1000000000")
        page.get_by_role("spinbutton", name="Seconds").fill("3600")
        protect(page)
        page.get_by_role("button", name="Cancel").wait_for()
        address = page.url
        page.reload()
        assert page.url == address
        page.get_by_role("progressbar", name="Protecting the table").wait_for()
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("alert").get_by_text("Cancelled.").wait_for()
        page.reload()
        page.get_by_role("alert").get_by_text("Cancelled.").wait_for()
        assert server.get(f"/api/jobs/{address.rpartition('/')[2]}")["state"] == "cancelled"

        page.goto(f"{server.origin}/#/look/none/none")
        page.get_by_role("alert").get_by_text("this table is not open any more.").wait_for()
        page.errors[:] = [one for one in page.errors if "400" not in one]  # Chromium notes answers that say no


def press_until(page: Any, key: str, wanted: str, most: int = 120) -> None:
    """Press a key until the element in focus is the wanted one."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", wanted):
            return
    raise AssertionError(f"{wanted} is not reached by {key}")


@pytest.mark.slow
def test_the_keyboard_is_enough(server: Server, browser: Any) -> None:
    with opened(browser, server) as page:
        page.get_by_role("heading", name="Which table do you want to protect?").wait_for()
        press_until(page, "Tab", ".files li:last-child button")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="What are the columns?").wait_for()
        press_until(page, "Tab", "input[type=radio]:checked")
        page.keyboard.press("ArrowRight")
        assert role(page, "age", "Confidential").is_checked()
        page.keyboard.press("ArrowLeft")
        assert role(page, "age", "Quasi-identifier").is_checked()
        press_until(page, "Tab", ".foot .primary")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="How should it be protected?").wait_for()
        press_until(page, "Tab", "input[type=range]")
        page.keyboard.press("ArrowRight")
        assert page.get_by_label("k", exact=True).input_value() == "6"
        press_until(page, "Tab", ".foot .primary")
        page.keyboard.press("Enter")
        looked(page)
        press_until(page, "Tab", ".foot .primary")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Ready to release").wait_for()
        press_until(page, "Tab", "a[download]")


def test_a_browser_opens_the_page_by_a_private_file(
    server: Server, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened_with: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened_with.append)
    context = browser.new_context()
    with open_page(server.address):
        (address,) = opened_with
        assert server.token not in address
        assert Path(address.removeprefix("file://")).parent.stat().st_mode & 0o077 == 0
        page = context.new_page()
        page.goto(address)
        page.get_by_role("heading", name="Which table do you want to protect?").wait_for()
        assert page.url == f"{server.origin}/"  # the token is not in the history of the page
    assert not Path(address.removeprefix("file://")).exists()
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_step_is_accessible(server: Server, browser: Any, width: int, theme: str) -> None:
    with opened(browser, server, color_scheme=theme) as page:
        page.set_viewport_size({"width": width, "height": 844})
        page.get_by_role("heading", name="Which table do you want to protect?").wait_for()
        assert accessible(page) == []
        try_example(page)
        page.get_by_text("100.0 %").nth(1).wait_for()
        assert accessible(page) == []
        page.get_by_role("button", name="Browse the tree").first.click()
        page.get_by_role("dialog").get_by_text("concepts").wait_for()
        assert accessible(page) == []
        page.get_by_role("button", name="Close").click()
        page.get_by_role("button", name="Next: protect it").click()
        page.get_by_text("More settings").click()
        assert accessible(page) == []
        page.get_by_role("link", name="Compare methods").click()
        assert accessible(page) == []
        page.get_by_role("button", name="Compare", exact=True).click()
        page.locator("[data-point]").first.wait_for()
        page.get_by_role("heading", name="Comparing").wait_for(state="detached")
        page.get_by_text("All points as a table").click()
        assert accessible(page) == []
        page.get_by_role("button", name="Use this one").first.click()
        protect(page)
        looked(page)
        for section in page.locator("details.card-box > summary").all():
            section.click()
        assert accessible(page) == []
        page.get_by_role("button", name="Next: release it").click()
        page.get_by_text("The public note", exact=True).click()
        assert accessible(page) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    ["reverse_mapping", "pipeline", "noise", "rank_swapping", "generalisation", "recoding", "pram", "imputation"],
)
def test_methods_run_from_their_forms(server: Server, browser: Any, method: str) -> None:
    with opened(browser, server) as page:
        try_example(page)
        role(page, "dx01", "Quasi-identifier").check()
        page.get_by_role("button", name="Next: protect it").click()
        page.locator(f"input[name=method][value={method}]").check()
        protect(page)
        looked(page)
        page.get_by_text("Every promise holds").wait_for()


def test_a_page_of_another_origin_gets_nothing(server: Server, browser: Any, tmp_path: Path) -> None:
    """Another port of the same computer is the same site, so that the cookie is sent: the origin must stop it."""
    import functools
    import http.server
    import threading

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    (tmp_path / "index.html").write_text("<!doctype html><title>evil</title>")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path)) as evil:
        threading.Thread(target=evil.serve_forever, daemon=True).start()
        context = browser.new_context()
        page, answers = context.new_page(), []
        page.goto(server.address)
        page.get_by_role("heading", name="Which table do you want to protect?").wait_for()
        page.goto(f"http://127.0.0.1:{evil.server_port}/")
        page.on("response", lambda one: answers.append(one.status) if server.origin in one.url else None)
        script = """async (origin) => {
            const tries = [
                fetch(origin + "/api/start", {credentials: "include"}),
                fetch(origin + "/api/start", {credentials: "include", mode: "no-cors"}),
                fetch(origin + "/api/tables", {method: "POST", credentials: "include", mode: "no-cors", body: "{}"}),
            ];
            return (await Promise.allSettled(tries)).map((one) => one.status);
        }"""
        assert page.evaluate(script, server.origin) == ["rejected"] * 3
        framed = "(to) => { const one = document.createElement('iframe'); one.src = to; document.body.append(one); }"
        with page.expect_event("framenavigated", lambda one: one.parent_frame and one.url != "about:blank"):
            page.evaluate(framed, server.origin + "/")
        assert set(answers) <= {200, 403}
        inner = page.frames[1]
        assert not re.search("Which table", inner.content())
        context.close()
        evil.shutdown()
