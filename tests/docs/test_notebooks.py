"""The notebooks run from top to bottom, and what they show is what their words promise."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import NOTEBOOKS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of packages that import each other, not ours
    nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
    import nbformat

PATIENT: Any = {
    "timeout": 1200,
    "startup_timeout": 600,
    "iopub_timeout": 120,  # what a cell shows may come later than its end
    "raise_on_iopub_timeout": True,
}
FILES = sorted(NOTEBOOKS.glob("*.ipynb"))


def run(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what each cell of code shows, pictures and tables before plain text."""
    for place in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(place, str(folder / place))
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    client = nbclient.NotebookClient(notebook, kernel_name="python3", **PATIENT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client.execute(cwd=str(folder))
    return [text_of(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


def text_of(outputs: list[dict[str, Any]]) -> str:
    """Return what a cell shows in one text: a slow cell prints in several pieces."""
    texts = []
    for output in outputs:
        data = output.get("data", {"text/plain": output.get("text", "")})
        kind = next(k for k in ("text/html", "image/svg+xml", "text/plain") if k in data)
        texts.append(str(data[kind]))
    return "".join(texts)


def test_pieces_of_a_line_are_one_line() -> None:
    assert text_of([{"text": "seat 0, "}, {"text": "hand: 7H\n"}]) == "seat 0, hand: 7H\n"


@pytest.mark.slow
def test_play_and_inspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, table, turn, view, values, refusal, record, match = run(
        "play_and_inspect", tmp_path, monkeypatch
    )
    # The table shows both hands, a turn only that of the seat to move.
    assert re.search(r"seat 0, hand: [A-Z].*seat 1, hand: [A-Z]", table)
    mover = int(re.search(r"seat (\d) may:", turn)[1])
    assert re.search(rf"seat {mover}, hand: [A-Z]", turn)
    assert f"seat {1 - mover}, hand: 8" in turn
    assert view.count("\nseat ") + view.startswith("seat ") == 6
    assert "<svg" in view
    assert re.match(r"\[\('", values)
    assert "cannot take action" in refusal
    assert "Crazy Eights" in record
    assert "<svg" in record
    assert "<details>" in record
    assert "1,000 games on 500 deals" in match


@pytest.mark.slow
def test_train_a_q_learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, stages, _, match, tournament = run("train_a_q_learner", tmp_path, monkeypatch)
    assert "100,000 games:" in stages
    score, margin = re.search(r">(\d\d\.\d) ± (\d\.\d)<", match).groups()
    assert float(score) - float(margin) > 50  # it beats random beyond the interval
    assert tournament.index("after_100000") < tournament.index("random")
    assert "10,000 games on 500 deals" in tournament


@pytest.mark.slow
def test_analyse_a_cribbage_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, advice, sentences, scores, picture, points = run(
        "analyse_a_cribbage_hand", tmp_path, monkeypatch
    )
    assert advice.count("<tr>") == 16
    assert len(set(sentences.strip().splitlines())) == 4
    assert sum(int(one) for one in re.findall(r"(\d+) cuts", scores)) == 46
    assert "jack of clubs" in picture
    assert "seven" not in picture  # both are discarded
    assert points.strip().splitlines()[-1].isdigit()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]


def test_every_notebook_is_run() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert FILES
    assert {path.stem for path in FILES} <= tested
