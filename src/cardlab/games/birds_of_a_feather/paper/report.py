"""The paper on Birds of a Feather measured again: its models, its searches, and a census.

"Machine Learning Based Heuristic Search Algorithms to Solve Birds of a Feather Card Game" trains
models that predict whether a position can be solved, and lets them order a depth-first search.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.arena.workers import stream_results
from cardlab.engine.game import Array
from cardlab.engine.seeding import generator
from cardlab.engine.statistics import binomial_margin, bootstrap_mean
from cardlab.games.birds_of_a_feather import PACKAGE
from cardlab.games.birds_of_a_feather.census import take_census
from cardlab.games.birds_of_a_feather.learning import solvability
from cardlab.games.birds_of_a_feather.solvers import paper_searches as birds_paper
from cardlab.papers import figures
from cardlab.papers.claim import (
    Claim,
    claims_table,
    compare,
    fill_template,
    markdown_table,
)
from cardlab.papers.measurements import Ledger, source_digest

__all__ = ["reproduce"]

GAME = "birds_of_a_feather"
THEIR_TABLE_1 = {  # train and test accuracy in percent
    "logistic regression": (75.48, 75.41),
    "nearest neighbours": (71.17, 70.10),
    "decision tree": (74.81, 74.75),
    "random forest": (73.90, 73.97),
    "adaboost": (74.30, 74.23),
    "gaussian naive bayes": (71.48, 71.54),
    "neural network": (75.36, 75.17),
}
THEIR_TABLE_2 = {  # by model: accuracies with 6 features and with 83 terms
    "lr": ((73.60, 73.47), (76.66, 76.58)),
    "lr8": ((75.78, 75.95), (76.11, 76.04)),
    "lr16": ((99.63, 99.84), (99.63, 99.84)),
}
THEIR_TABLE_3 = {  # by stage: share solvable, accuracies
    "stage_16_15": (95.21, 95.33, 94.85),
    "stage_14_13": (83.97, 85.10, 84.70),
    "stage_12_11": (59.53, 72.84, 73.02),
    "stage_10_9": (32.71, 73.21, 73.61),
    "lr": (46.29, 76.66, 76.58),
    "lr8": (52.32, 76.11, 76.04),
    "lr16": (99.68, 99.63, 99.84),
}
THEIR_TABLE_5 = {  # median, mean, standard deviation of nodes
    "dfs": (1.43e4, 6.71e4, 1.43e5),
    "lr_dfs": (1.79e3, 4.51e4, 1.97e5),
    "lr": (1.63e2, 1.72e4, 8.01e4),
    "lr16_dfs": (5.39e3, 3.53e4, 1.09e5),
    "lr8_dfs": (4.44e2, 2.50e4, 1.27e5),
}
THEIR_TABLE_6 = {  # median, mean, standard deviation of seconds
    "dfs": (1.10, 4.82, 10.12),
    "lr_dfs": (0.75, 42.17, 229.34),
    "lr": (1.23, 47.06, 219.38),
    "lr16_dfs": (0.68, 2.91, 8.09),
    "lr8_dfs": (0.85, 25.58, 164.06),
}
THEIR_MCTS_SECONDS = 23.16 * 60
THEIR_DEALS = 10_000  # of their training data
CARDS = {"lr": "0 - 16", "lr8": "8 - 16", "lr16": "16"}
SEARCHES = (
    "dfs",
    "lr",
    "lr8_dfs",
    "lr16_dfs",
    "lr16_deals_dfs",
    "lr_dfs",
    "lr_linear",
    "evolved",
)
QUEUE = "lr_queue"  # on the 50 seeds only: it spends its whole budget on most
QUEUE_NODES = 50_000
TREES = {"mcts": 30, "lr_then_mcts": 10, "mcts_then_lr": 10}  # and on how many seeds at most
THEIR_PROTOCOL = range(10_000, 10_050)
STRETCH = 10  # seeds settled between two entries of the ledger


@dataclass(frozen=True)
class Plan:
    """How much is done: seeds of the long comparison, of tree search, of the census; training."""

    seeds: range
    tree_seeds: int
    simulations: int
    census: range
    training: solvability.Config


FULL = Plan(range(1000), 30, 160_000, range(-500_000, 500_000), solvability.Config())
QUICK = Plan(
    range(60),
    2,
    5_000,
    range(20_000),
    solvability.Config(seeds=150, slow_rows=1500, epochs=3),
)

Measured = dict[str, dict[str, Array]]  # search -> nodes, seconds, solved


def _run(task: tuple[str, str, tuple[int, ...], int]) -> tuple[str, dict[str, Any]]:
    key, name, seeds, simulations = task
    limits = birds_paper.Limits(simulations=simulations, queue_nodes=QUEUE_NODES)
    found = birds_paper.run_seeds(name, seeds, limits=limits)
    return key, {column: values.tolist() for column, values in found._asdict().items()}


def search_all(
    wanted: Mapping[str, range],
    simulations: int,
    ledger: Ledger,
    workers: int,
    report: Callable[[int, int], None],
) -> Measured:
    """Run searches over seeds, those that the ledger does not hold; return nodes and seconds."""
    parts = {}
    for name, seeds in wanted.items():
        size = 1 if name in TREES else STRETCH
        stretches = [seeds[first : first + size] for first in range(0, len(seeds), size)]
        parts[name] = [
            (f"{name} {some[0]}+{len(some)} {simulations}", name, tuple(some), simulations)
            for some in stretches
        ]
    every = [part for one in parts.values() for part in one]
    left = [part for part in every if part[0] not in ledger.rows]
    done = len(every) - len(left)
    report(done, len(every))
    for key, data in stream_results(_run, left, workers):
        ledger.put(key, data)
        done += 1
        report(done, len(every))
    return {
        name: {
            column: np.concatenate([np.array(ledger.rows[part[0]][column]) for part in mine])
            for column in ("solved", "nodes", "seconds", "gave_up")
        }
        for name, mine in parts.items()
    }


def reproduce(
    out: Path,
    work: Path,
    *,
    quick: bool,
    workers: int,
    report: Callable[[str, int, int], None],
) -> Path:
    """Measure everything that is not yet measured, draw, write the report; return its path."""
    plan = QUICK if quick else FULL
    work /= source_digest()  # measurements of other code stay apart
    ledger = Ledger(work / "ledger.jsonl")

    def told(stage: str) -> Callable[[int, int], None]:
        return lambda done, total: report(stage, done, total)

    fifty = dict.fromkeys((*SEARCHES, QUEUE), THEIR_PROTOCOL)
    theirs = search_all(fifty, 0, ledger, workers, told("50 seeds"))
    many = dict.fromkeys(SEARCHES, plan.seeds)
    ours = search_all(many, 0, ledger, workers, told("many seeds"))
    some = {name: plan.seeds[: min(most, plan.tree_seeds)] for name, most in TREES.items()}
    trees = search_all(some, plan.simulations, ledger, workers, told("tree search"))
    models = solvability.train(plan.training, work / "training", report)
    shares = ledger.get("breakdown", lambda: birds_paper.breakdown(plan.seeds[:200]))
    census = take_census(
        plan.census, out=work / "census.csv", workers=workers, progress=told("census")
    ).to_dict()
    out.mkdir(parents=True, exist_ok=True)
    draw_figures(theirs, out)
    path = out / f"{GAME}.md"
    path.write_text(write_report(plan, theirs, ours, trees, models, shares, census))
    return path


def draw_figures(theirs: Measured, out: Path) -> None:
    """Draw figure 1: the running total of nodes over the 50 seeds."""
    figures.draw_curves(
        out / f"{GAME}_nodes.svg",
        {
            name: [
                (place + 1, float(total), 0.0)
                for place, total in enumerate(np.cumsum(theirs[name]["nodes"]))
            ]
            for name in ("dfs", "lr_dfs", "lr", "lr16_dfs", "lr8_dfs", "evolved")
        },
        x="seeds",
        y="running total of nodes",
        log_x=False,
        log_y=True,
    )


def number(value: float) -> str:
    """Return a count or a time in three significant digits, thousands set apart."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def number_signed(value: float) -> str:
    """Return a count with its sign."""
    return f"{value:+,.0f}"


def statistics(values: Array) -> tuple[str, str, str]:
    """Return median, mean and standard deviation as texts."""
    return number(np.median(values)), number(values.mean()), number(values.std(ddof=1))


def pair(train: float, test: float) -> str:
    """Return two accuracies in percent."""
    return f"{train:.2f} / {test:.2f}"


def variant(model: Mapping[str, Any], terms: int, split: str) -> str:
    """Return the accuracies of a model's variant with the usual penalty."""
    mine = [
        one
        for one in model["variants"]
        if one["split_by"] == split
        and one["c"] == solvability.USUAL_C
        and (one["terms"] == 6) == (terms == 6)
    ]
    return pair(100 * mine[0]["train"], 100 * mine[0]["test"])


def model_tables(models: Mapping[str, Any]) -> dict[str, str]:
    """Return tables 1 to 4, theirs beside ours."""
    best_network = max(
        (one for one in models["table 1"] if one.startswith("neural network")),
        key=lambda one: models["table 1"][one]["test"],
    )
    rows = []
    for name, (train, test) in THEIR_TABLE_1.items():
        mine = models["table 1"][best_network if name == "neural network" else name]
        rows.append((name, pair(train, test), pair(100 * mine["train"], 100 * mine["test"])))
    linear = models["models"]["linear"]
    rows.append(
        (
            "linear regression, 83 terms",
            "-",
            pair(100 * linear["train"], 100 * linear["test"]),
        )
    )
    second = [
        (
            CARDS[name],
            pair(*six),
            variant(models["models"][name], 6, "deals"),
            variant(models["models"][name], 6, "rows"),
            pair(*many),
            variant(models["models"][name], 83, "deals"),
            variant(models["models"][name], 83, "rows"),
        )
        for name, (six, many) in THEIR_TABLE_2.items()
    ]
    third = [
        (
            name,
            f"{share:.2f}",
            f"{100 * models['models'][name]['solvable']:.2f}",
            pair(train, test),
            variant(models["models"][name], 83, "deals"),
        )
        for name, (share, train, test) in THEIR_TABLE_3.items()
    ]
    return {
        "table_1": markdown_table(("model", "theirs, train / test %", "ours"), rows),
        "network": best_network.removeprefix("neural network "),
        "rows": f"{models['rows']:,}",
        "table_2": markdown_table(
            (
                "cards",
                "6: theirs",
                "6: ours",
                "6: ours, split by rows",
                "83: theirs",
                "83: ours",
                "83: ours, split by rows",
            ),
            second,
        ),
        "table_3": markdown_table(
            ("model", "solvable %, theirs", "ours", "train / test %, theirs", "ours"), third
        ),
    }


def write_report(
    plan: Plan,
    theirs: Measured,
    ours: Measured,
    trees: Measured,
    models: Mapping[str, Any],
    shares: Mapping[str, float],
    census: Mapping[str, Any],
) -> str:
    """Return the report in Markdown; every number in it was measured."""
    nothing = ("-", "-", "-")

    def stated(table: Mapping[str, tuple[float, ...]], name: str) -> tuple[str, ...]:
        return tuple(number(value) for value in table[name]) if name in table else nothing

    nodes_50 = [
        (name, *stated(THEIR_TABLE_5, name), *statistics(theirs[name]["nodes"]))
        for name in (*SEARCHES, QUEUE)
    ]
    seconds_50 = [
        (name, *stated(THEIR_TABLE_6, name), *statistics(1000 * theirs[name]["seconds"]))
        for name in (*SEARCHES, QUEUE)
    ]
    many = []
    for name in SEARCHES:
        mean, low, high = bootstrap_mean(ours[name]["nodes"], generator(0, "bootstrap"))
        many.append(
            (
                name,
                number(np.median(ours[name]["nodes"])),
                number(mean),
                f"{number(low)} - {number(high)}",
                number(ours[name]["nodes"].max()),
                number(1e6 * ours[name]["seconds"].mean()),
            )
        )
    median = {name: float(np.median(ours[name]["nodes"])) for name in SEARCHES}
    means = {name: float(ours[name]["nodes"].mean()) for name in SEARCHES}
    fewer = [name for name in SEARCHES if name != "dfs" and median[name] < median["dfs"]]
    slower = [
        name
        for name in SEARCHES
        if name in THEIR_TABLE_6
        and name != "dfs"
        and theirs[name]["seconds"].mean() > theirs["dfs"]["seconds"].mean()
    ]
    solvable = {
        name: ours["dfs"]["solved"][: len(one["solved"])].astype(bool)
        for name, one in trees.items()
    }
    tree_rows = [
        (
            name,
            f"{int(one['solved'].sum())} of {int(solvable[name].sum())}",
            number(one["nodes"][solvable[name]].mean()),
            number(one["seconds"][solvable[name]].mean()),
            number(one["seconds"][solvable[name]].max()),
        )
        for name, one in trees.items()
    ]
    share = census["unsolvable"] / census["seeds"]
    fewer_nodes = ours["dfs"]["nodes"] - ours["lr"]["nodes"]
    _, low, high = bootstrap_mean(fewer_nodes, generator(0, "bootstrap"))
    solvable_verdict = compare(
        99.68,
        100 * binomial_margin(0.9968, THEIR_DEALS),
        100 - 100 * share,
        100 * binomial_margin(share, census["seeds"]),
    )
    claims = [
        Claim(
            "table 5",
            "every learned search visits fewer nodes than DFS in median",
            "4 of 4",
            f"{sum(name in fewer for name in THEIR_TABLE_5)} of 4 "
            f"({len(fewer)} of {len(SEARCHES) - 1} with all variants)",
            "agrees" if all(n in fewer for n in THEIR_TABLE_5 if n != "dfs") else "differs",
        ),
        Claim(
            "table 5",
            "LR visits 88.6 % fewer nodes than DFS in median (98.9 % by its own table)",
            f"median {number(THEIR_TABLE_5['lr'][0])}",
            f"median {number(median['lr'])}, "
            f"{100 - 100 * median['lr'] / median['dfs']:.1f} % fewer",
            "agrees" if median["lr"] <= THEIR_TABLE_5["lr"][0] else "differs",
        ),
        Claim(
            "table 5",
            "LR visits 74.4 % fewer nodes than DFS in mean",
            "74.4 % fewer",
            f"{100 - 100 * means['lr'] / means['dfs']:.1f} % fewer; 95 % interval of the mean "
            f"difference {number_signed(low)} to {number_signed(high)} nodes",
            "agrees" if low > 0 else "open: one or two deals decide",
        ),
        Claim(
            "table 6",
            "learned searches take more time than DFS in mean, though they visit fewer nodes",
            "3 of 4 slower",
            f"{len(slower)} of 4 slower",
            "agrees" if len(slower) == 3 else "differs",
        ),
        Claim(
            "section 3",
            "one model trained on deals alone, applied to the first move, boosts DFS",
            f"median {number(THEIR_TABLE_5['lr16_dfs'][0])} against "
            f"{number(THEIR_TABLE_5['dfs'][0])}",
            f"median {number(median['lr16_deals_dfs'])} against {number(median['dfs'])}",
            "agrees" if median["lr16_deals_dfs"] < median["dfs"] else "differs",
        ),
        Claim(
            "section 5",
            "MCTS solves every deal of 30 in 15 moves, 23 minutes a deal",
            f"30 of 30, {THEIR_MCTS_SECONDS:.0f} s",
            f"{int(trees['mcts']['solved'].sum())} of {int(solvable['mcts'].sum())} solvable, "
            f"{trees['mcts']['seconds'][solvable['mcts']].mean():.1f} s",
            "agrees" if trees["mcts"]["solved"].sum() == solvable["mcts"].sum() else "differs",
        ),
        Claim(
            "section 3",
            "99.68 % of deals can be solved",
            "99.68 %",
            f"{100 - 100 * share:.3f} % of {census['seeds']:,}",
            solvable_verdict,
        ),
    ]
    hardest = [
        (str(one["seed"]), "yes" if one["solvable"] else "no", f"{one['nodes']:,}")
        for one in census["hardest"]
    ]
    facts: dict[str, object] = {
        "size": "quick run: few seeds" if plan is QUICK else "full run",
        "claims": claims_table(claims),
        **model_tables(models),
        "training": ", ".join(
            f"{name}={value}" for name, value in dataclasses.asdict(plan.training).items()
        ),
        "protocol": f"{THEIR_PROTOCOL.start} to {THEIR_PROTOCOL.stop - 1}",
        "table_5": markdown_table(
            ("search", "median, theirs", "mean", "std", "median, ours", "mean", "std"), nodes_50
        ),
        "table_6": markdown_table(
            (
                "search",
                "median s, theirs",
                "mean s",
                "std s",
                "median ms, ours",
                "mean ms",
                "std ms",
            ),
            seconds_50,
        ),
        "queue_nodes": f"{QUEUE_NODES:,}",
        "queue_gave_up": int(theirs[QUEUE]["gave_up"].sum()),
        "seeds": f"{plan.seeds.start} to {plan.seeds.stop - 1}",
        "many": markdown_table(
            ("search", "median nodes", "mean", "95 % interval", "most", "mean microseconds"), many
        ),
        "features_share": f"{100 * shares['features']:.0f}",
        "prediction_share": f"{100 * shares['prediction']:.0f}",
        "sorting_share": f"{100 * shares['sorting']:.0f}",
        "search_share": f"{100 * shares['search']:.0f}",
        "time_verdict": (
            "Features and predictions are what costs, not sorting."
            if shares["features"] + shares["prediction"] > shares["search"]
            else "Once compiled, the model costs little: most of the time goes into making moves "
            "and looking up\npositions. The paper's searches were slow because of Python, not "
            "because of sorting."
        ),
        "simulations": f"{plan.simulations:,}",
        "trees": markdown_table(
            ("search", "solved of solvable", "mean nodes", "mean seconds", "most seconds"),
            tree_rows,
        ),
        "evolved_median": number(median["evolved"]),
        "evolved_mean": number(means["evolved"]),
        "lr_median": number(median["lr"]),
        "lr_mean": number(means["lr"]),
        "census_range": f"{plan.census.start} to {plan.census.stop - 1}",
        "unsolvable": f"{census['unsolvable']:,}",
        "unsolvable_share": f"{100 * share:.3f}",
        "disconnected": f"{census['disconnected']:,}",
        "solver_mean": number(census["nodes"]["mean"]),
        "solver_median": number(census["nodes"]["median"]),
        "hardest": markdown_table(("seed", "solvable", "nodes"), hardest),
    }
    return fill_template(PACKAGE, facts)
