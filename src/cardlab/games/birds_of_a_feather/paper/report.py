"""The paper on Birds of a Feather measured again: its models, its searches, and a census.

"Machine Learning Based Heuristic Search Algorithms to Solve Birds of a Feather Card Game" trains
models that predict whether a position can be solved, and lets them order a depth-first search.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine.game import Array
from cardlab.engine.seeding import generator
from cardlab.engine.statistics import binomial_margin, bootstrap_mean
from cardlab.games.birds_of_a_feather import PACKAGE
from cardlab.games.birds_of_a_feather.census import take_census
from cardlab.games.birds_of_a_feather.learning import solvability
from cardlab.games.birds_of_a_feather.solvers import paper_searches
from cardlab.papers import figures
from cardlab.papers.claim import Claim, agreement, compare, markdown_table
from cardlab.papers.reproduce import Report, Study

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
PARTS = ("features", "prediction", "sorting", "search")  # of the time of a learned search
MODELS_COST = "Features and predictions are what costs, not sorting."
MOVES_COST = """Once compiled, the model costs little: most of the time goes into making moves and \
looking up
positions. The paper's searches were slow because of Python, not because of sorting."""
BY_ROWS = "ours, split by rows"
SHARD = 10  # seeds settled between two entries of the ledger


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

Searched = dict[str, dict[str, Array]]  # search -> solved, nodes, seconds, gave_up; by seed
COLUMNS = ("solved", "nodes", "seconds", "gave_up")


class Findings(NamedTuple):
    """Everything that was measured."""

    plan: Plan
    theirs: Searched  # on the paper's 50 seeds
    ours: Searched  # on many seeds
    trees: Searched
    models: Mapping[str, Any]
    shares: Mapping[str, float]  # of a search's time
    census: Mapping[str, Any]

    def median(self, name: str) -> float:
        """Return the median of a search's nodes on many seeds."""
        return float(np.median(self.ours[name]["nodes"]))

    def mean(self, name: str) -> float:
        """Return the mean of a search's nodes on many seeds."""
        return float(self.ours[name]["nodes"].mean())

    def solvable(self, name: str) -> Array:
        """Return which of a tree search's seeds have a solution."""
        count = len(self.trees[name]["solved"])
        return np.asarray(self.ours["dfs"]["solved"][:count].astype(bool))


# Measuring


def _run(task: tuple[str, tuple[int, ...], int]) -> dict[str, Any]:
    name, seeds, simulations = task
    limits = paper_searches.Limits(simulations=simulations, queue_nodes=QUEUE_NODES)
    found = paper_searches.run_seeds(name, seeds, limits=limits)
    return {column: values.tolist() for column, values in found._asdict().items()}


def search_all(
    study: Study[Plan], stage: str, wanted: Mapping[str, range], simulations: int = 0
) -> Searched:
    """Run searches over seeds, as far as the ledger does not hold them."""
    shards: dict[str, dict[str, tuple[str, tuple[int, ...], int]]] = {}
    for name, seeds in wanted.items():
        size = 1 if name in TREES else SHARD
        parts = [seeds[first : first + size] for first in range(0, len(seeds), size)]
        shards[name] = {
            f"{name} {part[0]}+{len(part)} {simulations}": (name, tuple(part), simulations)
            for part in parts
        }
    found = study.ledger.complete(_run, shards, study.workers, study.progress(stage))
    return {
        name: {
            column: np.concatenate([np.array(row[column]) for row in rows]) for column in COLUMNS
        }
        for name, rows in found.items()
    }


def measure_all(study: Study[Plan]) -> Findings:
    """Search, train the models, take the census."""
    plan, folder = study.plan, study.folder
    trees = {name: plan.seeds[: min(most, plan.tree_seeds)] for name, most in TREES.items()}
    return Findings(
        plan,
        search_all(study, "50 seeds", dict.fromkeys((*SEARCHES, QUEUE), THEIR_PROTOCOL)),
        search_all(study, "many seeds", dict.fromkeys(SEARCHES, plan.seeds)),
        search_all(study, "tree search", trees, plan.simulations),
        solvability.train(plan.training, folder / "training", study.report),
        study.ledger.get("breakdown", lambda: paper_searches.breakdown(plan.seeds[:200])),
        take_census(
            plan.census,
            out=folder / "census.csv",
            workers=study.workers,
            progress=study.progress("census"),
        ).to_dict(),
    )


def draw_figures(found: Findings, out: Path) -> None:
    """Draw figure 1: the running total of nodes over the 50 seeds."""
    figures.draw_curves(
        out / f"{GAME}_nodes.svg",
        {
            name: [
                (place + 1, float(total), 0.0)
                for place, total in enumerate(np.cumsum(found.theirs[name]["nodes"]))
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


def pair(train: float, test: float) -> str:
    """Return two accuracies in percent."""
    return f"{train:.2f} / {test:.2f}"


# The models: tables 1 to 3


def accuracies(model: Mapping[str, Any]) -> str:
    """Return a model's accuracies in percent."""
    return pair(100 * model["train"], 100 * model["test"])


def variant(model: Mapping[str, Any], terms: int, split: str) -> str:
    """Return the accuracies of a model's variant with the usual penalty."""
    for row in model["variants"]:
        six = (row["terms"] == 6) == (terms == 6)
        if row["split_by"] == split and row["c"] == solvability.USUAL_C and six:
            return accuracies(row)
    raise KeyError(f"{terms} terms, split by {split}")


def model_facts(models: Mapping[str, Any]) -> dict[str, object]:
    """Return tables 1 to 3, theirs beside ours."""
    networks = [name for name in models["table 1"] if name.startswith("neural network")]
    best_network = max(networks, key=lambda name: models["table 1"][name]["test"])
    first = []
    for name, theirs in THEIR_TABLE_1.items():
        ours = models["table 1"][best_network if name == "neural network" else name]
        first.append((name, pair(*theirs), accuracies(ours)))
    by_name = models["models"]
    first.append(("linear regression, 83 terms", "-", accuracies(by_name["linear"])))
    second = [
        (
            CARDS[name],
            *(
                cell
                for terms, stated in ((6, six), (83, many))
                for cell in (
                    pair(*stated),
                    variant(by_name[name], terms, "deals"),
                    variant(by_name[name], terms, "rows"),
                )
            ),
        )
        for name, (six, many) in THEIR_TABLE_2.items()
    ]
    third = [
        (
            name,
            f"{share:.2f}",
            f"{100 * by_name[name]['solvable']:.2f}",
            pair(train, test),
            variant(by_name[name], 83, "deals"),
        )
        for name, (share, train, test) in THEIR_TABLE_3.items()
    ]
    columns = [f"{terms}: {who}" for terms in (6, 83) for who in ("theirs", "ours", BY_ROWS)]
    head = ("model", "solvable %, theirs", "ours", "train / test %, theirs", "ours")
    return {
        "table_1": markdown_table(("model", "theirs, train / test %", "ours"), first),
        "network": best_network.removeprefix("neural network "),
        "rows": f"{models['rows']:,}",
        "table_2": markdown_table(("cards", *columns), second),
        "table_3": markdown_table(head, third),
    }


# The searches: tables 5 and 6, and more


def statistics(values: Array) -> tuple[str, str, str]:
    """Return median, mean and standard deviation as texts."""
    return number(np.median(values)), number(values.mean()), number(values.std(ddof=1))


def protocol_table(found: Findings, column: str) -> str:
    """Return table 5 (nodes) or 6 (seconds, ours in milliseconds): theirs beside ours."""
    stated = THEIR_TABLE_5 if column == "nodes" else THEIR_TABLE_6
    scale = 1 if column == "nodes" else 1000
    rows = []
    for name in (*SEARCHES, QUEUE):
        theirs = map(number, stated[name]) if name in stated else ("-", "-", "-")
        rows.append((name, *theirs, *statistics(scale * found.theirs[name][column])))
    units = {"theirs": "", "ours": ""} if column == "nodes" else {"theirs": " s", "ours": " ms"}
    head = [
        text
        for who, unit in units.items()
        for text in (f"median{unit}, {who}", f"mean{unit}", f"std{unit}")
    ]
    return markdown_table(("search", *head), rows)


def mean_interval(values: Array) -> tuple[float, float, float]:
    """Return a mean and the bounds of its interval by bootstrap over deals."""
    return bootstrap_mean(values, generator(0, "bootstrap"))


def many_table(found: Findings) -> str:
    """Return what the searches take on many seeds."""
    rows = []
    for name in SEARCHES:
        nodes, seconds = found.ours[name]["nodes"], found.ours[name]["seconds"]
        mean, low, high = map(number, mean_interval(nodes))
        cells = (number(np.median(nodes)), mean, f"{low} - {high}", number(nodes.max()))
        rows.append((name, *cells, number(1e6 * seconds.mean())))
    head = ("search", "median nodes", "mean", "95 % interval", "most", "mean microseconds")
    return markdown_table(head, rows)


def tree_table(found: Findings) -> str:
    """Return what the tree searches solve."""
    rows = []
    for name, tree in found.trees.items():
        solvable = found.solvable(name)
        nodes, seconds = tree["nodes"][solvable], tree["seconds"][solvable]
        solved = f"{int(tree['solved'].sum())} of {int(solvable.sum())}"
        rows.append((name, solved, *map(number, (nodes.mean(), seconds.mean(), seconds.max()))))
    head = ("search", "solved of solvable", "mean nodes", "mean seconds", "most seconds")
    return markdown_table(head, rows)


def time_facts(shares: Mapping[str, float]) -> dict[str, object]:
    """Return where the time of a learned search goes."""
    models_cost = shares["features"] + shares["prediction"] > shares["search"]
    return {
        **{f"{part}_share": f"{100 * shares[part]:.0f}" for part in PARTS},
        "time_verdict": MODELS_COST if models_cost else MOVES_COST,
    }


def census_facts(found: Findings) -> dict[str, object]:
    """Return what the census says."""
    census = found.census
    hardest = [
        (str(row["seed"]), "yes" if row["solvable"] else "no", f"{row['nodes']:,}")
        for row in census["hardest"]
    ]
    return {
        "census_range": f"{found.plan.census.start} to {found.plan.census.stop - 1}",
        "unsolvable": f"{census['unsolvable']:,}",
        "unsolvable_share": f"{100 * census['unsolvable'] / census['seeds']:.3f}",
        "disconnected": f"{census['disconnected']:,}",
        "solver_mean": number(census["nodes"]["mean"]),
        "solver_median": number(census["nodes"]["median"]),
        "hardest": markdown_table(("seed", "solvable", "nodes"), hardest),
    }


def all_facts(found: Findings) -> dict[str, object]:
    """Return every number and table of the report."""
    plan = found.plan
    return {
        **model_facts(found.models),
        "training": ", ".join(
            f"{name}={value}" for name, value in dataclasses.asdict(plan.training).items()
        ),
        "protocol": f"{THEIR_PROTOCOL.start} to {THEIR_PROTOCOL.stop - 1}",
        "table_5": protocol_table(found, "nodes"),
        "table_6": protocol_table(found, "seconds"),
        "queue_nodes": f"{QUEUE_NODES:,}",
        "queue_gave_up": int(found.theirs[QUEUE]["gave_up"].sum()),
        "seeds": f"{plan.seeds.start} to {plan.seeds.stop - 1}",
        "many": many_table(found),
        **time_facts(found.shares),
        "simulations": f"{plan.simulations:,}",
        "trees": tree_table(found),
        "evolved_median": number(found.median("evolved")),
        "evolved_mean": number(found.mean("evolved")),
        "lr_median": number(found.median("lr")),
        "lr_mean": number(found.mean("lr")),
        **census_facts(found),
    }


# The claims


def node_claims(found: Findings) -> list[Claim]:
    """Return what the paper says of nodes: table 5."""
    dfs, lr = found.median("dfs"), found.median("lr")
    fewer = [name for name in SEARCHES if name != "dfs" and found.median(name) < dfs]
    _, low, high = mean_interval(found.ours["dfs"]["nodes"] - found.ours["lr"]["nodes"])
    return [
        Claim(
            "table 5",
            "every learned search visits fewer nodes than DFS in median",
            "4 of 4",
            f"{sum(name in fewer for name in THEIR_TABLE_5)} of 4 "
            f"({len(fewer)} of {len(SEARCHES) - 1} with all variants)",
            agreement(all(name in fewer for name in THEIR_TABLE_5 if name != "dfs")),
        ),
        Claim(
            "table 5",
            "LR visits 88.6 % fewer nodes than DFS in median (98.9 % by its own table)",
            f"median {number(THEIR_TABLE_5['lr'][0])}",
            f"median {number(lr)}, {100 - 100 * lr / dfs:.1f} % fewer",
            agreement(lr <= THEIR_TABLE_5["lr"][0]),
        ),
        Claim(
            "table 5",
            "LR visits 74.4 % fewer nodes than DFS in mean",
            "74.4 % fewer",
            f"{100 - 100 * found.mean('lr') / found.mean('dfs'):.1f} % fewer; 95 % interval of the "
            f"mean difference {low:+,.0f} to {high:+,.0f} nodes",
            "agrees" if low > 0 else "open: one or two deals decide",
        ),
    ]


def all_claims(found: Findings) -> list[Claim]:
    """Return the paper's claims beside what was found."""
    seconds = {name: found.theirs[name]["seconds"].mean() for name in THEIR_TABLE_6}
    slower = sum(value > seconds["dfs"] for value in seconds.values())
    solved, solvable = found.trees["mcts"]["solved"].sum(), found.solvable("mcts")
    share = found.census["unsolvable"] / found.census["seeds"]
    seeds = found.census["seeds"]
    return [
        *node_claims(found),
        Claim(
            "table 6",
            "learned searches take more time than DFS in mean, though they visit fewer nodes",
            "3 of 4 slower",
            f"{slower} of 4 slower",
            agreement(slower == 3),
        ),
        Claim(
            "section 3",
            "one model trained on deals alone, applied to the first move, boosts DFS",
            f"median {number(THEIR_TABLE_5['lr16_dfs'][0])} against "
            f"{number(THEIR_TABLE_5['dfs'][0])}",
            f"median {number(found.median('lr16_deals_dfs'))} against "
            f"{number(found.median('dfs'))}",
            agreement(found.median("lr16_deals_dfs") < found.median("dfs")),
        ),
        Claim(
            "section 5",
            "MCTS solves every deal of 30 in 15 moves, 23 minutes a deal",
            f"30 of 30, {THEIR_MCTS_SECONDS:.0f} s",
            f"{int(solved)} of {int(solvable.sum())} solvable, "
            f"{found.trees['mcts']['seconds'][solvable].mean():.1f} s",
            agreement(solved == solvable.sum()),
        ),
        Claim(
            "section 3",
            "99.68 % of deals can be solved",
            "99.68 %",
            f"{100 - 100 * share:.3f} % of {seeds:,}",
            compare(
                99.68,
                100 * binomial_margin(0.9968, THEIR_DEALS),
                100 - 100 * share,
                100 * binomial_margin(share, seeds),
            ),
        ),
    ]


REPORT = Report(
    PACKAGE, FULL, QUICK, measure_all, draw_figures, all_claims, all_facts, reductions="few seeds"
)
