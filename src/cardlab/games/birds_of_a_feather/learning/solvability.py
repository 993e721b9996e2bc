"""Models that predict whether a position of Birds of a Feather can be solved.

Paper: "Machine Learning Based Heuristic Search Algorithms to Solve Birds of a Feather Card Game",
section 3, tables 1 to 4. From the deal of a seed a walk goes along random solvable children to the
solution. Of each position on the way whose children have different labels all children become
rows; so does the deal itself. With x the products of one to three features (6, or 83 up to the
third degree), each scaled to [0, 1] over the training rows, the models are

    logistic regression   P(solvable) = 1 / (1 + exp(-(w x + b))), maximum likelihood, L2 penalty
    linear regression     w x + b, least squares, as the paper's text describes it

and, for table 1 on the six features, nearest neighbours, a decision tree, a random forest,
AdaBoost, Gaussian naive Bayes and neural networks over four penalties and four depths.

Deviations. Test rows come from other deals than training rows (the last of the seeds): rows of one
deal resemble each other, so that a split by rows, as in the paper, tests on what was trained on;
`train` reports that split too. Rows are exact here, since a complete solver labels them. Equal rows
are fitted once with their number as weight, which changes no result of a fit that sums over rows;
neighbours, forest and networks are fitted on `slow_rows` rows drawn at random. The paper does not
state the parameters of its other models; `classifiers` has ours. A stronger penalty than the usual
C = 1 costs accuracy and saves nodes in the median. On seeds 2,000,000 to 2,000,999, on which only C
was chosen, C = 0.001, 0.003 and 0.01 gave `lr` medians of 88, 106 and 115 nodes and means of
127,413, 117,553 and 140,608 (`dfs`: 10,392 and 117,373); a higher C had a median above the paper's
163. The default has the least of these means. A mean hangs on one or two deals and does not
separate `lr` from `dfs` there; the median does.

The models that the package ships in `solvers/models` are the files of `train(Config(), folder)`.
"""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.kernel import int64, kernel
from cardlab.engine.seeding import below, branch
from cardlab.engine.whole_files import whole_file
from cardlab.games.birds_of_a_feather.features import (
    DEGREE,
    FEATURES,
    TERMS,
    features_of,
    polynomial,
)
from cardlab.games.birds_of_a_feather.rules import (
    CELLS,
    DECK,
    GAME,
    MOST_MOVES,
    NUM_ACTIONS,
    apply,
    deal,
    fresh,
    legal,
    published_order,
)
from cardlab.games.birds_of_a_feather.solvers.models import LINEAR, LOGISTIC, STAGES, Model
from cardlab.games.birds_of_a_feather.solvers.solver import Scratch, settle
from cardlab.learning.runs import open_run, read_json, write_json

Report = Callable[[str, int, int], None]
MOST_ROWS = 1 + MOST_MOVES * NUM_ACTIONS  # of one seed
ALPHAS, LAYERS = (0.0001, 0.01, 1.0, 3.0), (1, 3, 6, 12)
WIDTH = 100
USUAL_C = 1.0  # scikit-learn's default
RANGES = {"lr": range(1, 17), "lr8": range(8, 17), "lr16": range(16, 17)} | {
    name: range(cards - 1, cards + 1) for cards, name in STAGES.items()
}


@dataclasses.dataclass(frozen=True)
class Config:
    """What a training run depends on."""

    first_seed: int = 1_000_000
    seeds: int = 10_000
    degree: int = DEGREE  # of the products that the saved models look at
    test_share: float = 0.2  # of the seeds, and of the rows where rows are split
    c: float = 0.003  # scikit-learn's inverse strength of the L2 penalty, of the saved models
    seed: int = 0  # of the walks, and of everything else that is random
    compare: bool = True  # whether to train the other models of table 1 too
    slow_rows: int = 20_000  # for models that are slow to fit
    epochs: int = 20  # of the neural networks


class Rows(NamedTuple):
    """Labelled positions: their seeds, stacks left, six features and whether solvable."""

    seeds: Array
    cards: Array
    features: Array
    solvable: Array

    def where(self, mask: Array) -> Rows:
        """Return the rows that a mask or an array of places picks."""
        return Rows(*(column[mask] for column in self))


# Rows


class Walk(NamedTuple):
    """What a walk works in, and the rows that it writes."""

    states: Array  # a game that waits for its deal, the position on the way, its child
    actions: Array
    labels: Array
    order: Array
    rng: Array
    cards: Array
    features: Array
    solvable: Array

    @classmethod
    def new(cls) -> Walk:
        """Return room for one walk at a time."""
        return cls(
            np.concatenate([fresh()] * 3),
            np.empty(NUM_ACTIONS, dtype=np.int16),
            np.empty(NUM_ACTIONS, dtype=np.int64),
            np.empty(DECK, dtype=np.uint8),
            np.zeros(1, dtype=np.int64),
            np.empty(MOST_ROWS, dtype=np.uint8),
            np.empty((MOST_ROWS, len(FEATURES))),
            np.empty(MOST_ROWS, dtype=np.bool_),
        )


@kernel
def write_walk(seed: int, stream: int, solver: Any, walk: Any) -> int:
    """Write the rows of one seed and return how many there are."""
    states, actions, labels, order, rng, cards, features, solvable = walk
    published_order(seed, 0, order, rng)
    rng[0] = branch(stream, seed)
    states[1] = states[0]
    s, child = states[1], states[2]
    deal(s, order)
    features_of(s, features[0])
    cards[0] = CELLS
    solvable[0] = settle(s.tops, solver)
    rows = 1
    while solvable[0] and s.plies < MOST_MOVES:
        count = legal(s, actions)
        good = 0
        for i in range(count):
            states[2] = states[1]
            apply(child, int64(actions[i]))
            labels[i] = settle(child.tops, solver)
            good += labels[i]
            features_of(child, features[rows + i])
            cards[rows + i] = CELLS - int64(child.plies)
            solvable[rows + i] = labels[i]
        if good < count:
            rows += count
        chosen = below(rng, good)
        for i in range(count):
            if labels[i]:
                if chosen == 0:
                    apply(s, int64(actions[i]))
                    break
                chosen -= 1
    return rows


def generate(first_seed: int, seeds: int, seed: int) -> Rows:
    """Return the rows of published deals, labelled by the complete solver."""
    solver, walk = Scratch.new(), Walk.new()
    stream = seeding.stream(seed, "walk")
    parts = []
    for deal_seed in range(first_seed, first_seed + seeds):
        count = write_walk(deal_seed, stream, solver, walk)
        written = (walk.cards, walk.features, walk.solvable)
        parts.append(
            Rows(np.full(count, deal_seed), *(column[:count].copy() for column in written))
        )
    return Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def write_rows(path: Path, rows: Rows) -> None:
    """Write rows as Parquet, under another name until the file is whole."""
    import pyarrow as pa  # only training needs it
    import pyarrow.parquet as pq

    columns = {"seed": rows.seeds, "cards": rows.cards}
    columns |= {name: rows.features[:, i] for i, name in enumerate(FEATURES)}
    columns["solvable"] = rows.solvable
    with whole_file(path) as rough:
        pq.write_table(pa.table(columns), rough)


def read_rows(path: Path) -> Rows:
    """Return the rows of a Parquet file, or of all in a folder, by ascending seed."""
    import pyarrow.parquet as pq

    table = pq.read_table(path).sort_by("seed") if path.is_dir() else pq.read_table(path)
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    features = np.stack([columns[name] for name in FEATURES], axis=1)
    return Rows(columns["seed"], columns["cards"], features, columns["solvable"])


CHUNK = 250  # seeds in one file


def _make_rows(config: Config, folder: Path, report: Report) -> Rows:
    """Make the rows that are not in the folder yet, a file at a time, and return all."""
    folder.mkdir(exist_ok=True)
    for done in range(0, config.seeds, CHUNK):
        report("rows", done, config.seeds)
        first = config.first_seed + done
        path = folder / f"{first}.parquet"
        if not path.exists():
            write_rows(path, generate(first, min(CHUNK, config.seeds - done), config.seed))
    report("rows", config.seeds, config.seeds)
    return read_rows(folder)


# Fits


class Counted(NamedTuple):
    """Rows without repeats, and how often each occurs."""

    features: Array
    solvable: Array
    weights: Array


def count_rows(rows: Rows) -> Counted:
    """Return rows that are equal in features and label as one row with their number."""
    key = rows.cards.astype(np.int64)
    for column, most in ((2, 128), (3, 256), (4, 32), (5, 8)):  # the others are ratios of these
        key = key * most + rows.features[:, column].astype(np.int64)
    key = key * 2 + rows.solvable
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    return Counted(rows.features[first], rows.solvable[first], counts.astype(float))


def fit(rows: Rows, kind: str, degree: int, c: float = USUAL_C) -> Model:
    """Return the regression of solvability on the products of up to `degree` features."""
    from sklearn.linear_model import LinearRegression, LogisticRegression

    features, solvable, weights = count_rows(rows)
    terms = polynomial(features)[:, [len(term) <= degree for term in TERMS]]
    minimum = terms.min(axis=0)
    spread = terms.max(axis=0) - minimum
    scale = 1 / np.where(spread > 0, spread, 1.0)
    share = float(weights @ solvable / weights.sum())
    if share in (0.0, 1.0):  # one label only, as in tiny runs: nothing to fit
        return Model(kind, 4.0 * (2 * share - 1), np.zeros(len(minimum)), minimum, scale)
    if kind == LOGISTIC:
        fitted = LogisticRegression(C=c, solver="newton-cholesky", max_iter=1000)
        fitted.fit((terms - minimum) * scale, solvable, weights)
        coefficients, intercept = fitted.coef_[0], float(fitted.intercept_[0])
    else:
        fitted = LinearRegression()
        fitted.fit((terms - minimum) * scale, solvable, weights)
        coefficients, intercept = fitted.coef_, float(fitted.intercept_)
    return Model(kind, intercept, coefficients, minimum, scale)


def accuracy(predict: Callable[[Array], Array], rows: Rows) -> float:
    """Return the share of rows for which a prediction above one half means solvable."""
    features, solvable, weights = count_rows(rows)
    right = (np.asarray(predict(features), dtype=float) > 0.5) == solvable
    return float(weights @ right / weights.sum())


def classifiers(config: Config) -> dict[str, tuple[Any, bool]]:
    """Return the models of table 1 by name, and whether each is fitted on all rows."""
    from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier

    seed = config.seed
    few = max(1, min(15, config.slow_rows // 10))
    return {
        "logistic regression": (LogisticRegression(solver="newton-cholesky"), True),
        "nearest neighbours": (KNeighborsClassifier(few), False),
        "decision tree": (DecisionTreeClassifier(max_depth=8, random_state=seed), True),
        "random forest": (RandomForestClassifier(max_depth=8, random_state=seed), False),
        "adaboost": (AdaBoostClassifier(random_state=seed), True),
        "gaussian naive bayes": (GaussianNB(), True),
    } | {
        f"neural network {alpha:g} {layers}": (
            MLPClassifier(
                (WIDTH,) * layers, alpha=alpha, max_iter=config.epochs, random_state=seed
            ),
            False,
        )
        for alpha in ALPHAS
        for layers in LAYERS
    }


def _compare(config: Config, rows: Rows, tests: Rows, folder: Path, report: Report) -> Any:
    """Return train and test accuracy of the models of table 1, resuming where a run stopped."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.preprocessing import MinMaxScaler
    from threadpoolctl import threadpool_limits  # scikit-learn needs it anyway

    path = folder / "table_1.json"
    known: dict[str, Any] = read_json(path) or {}
    models = classifiers(config)
    rng = seeding.generator(config.seed, "slow rows")
    count = min(config.slow_rows, len(rows.seeds))
    fewer = rows.where(rng.choice(len(rows.seeds), count, replace=False))
    counted = count_rows(rows)
    scaler = MinMaxScaler().fit(rows.features)
    for done, (name, (model, takes_all)) in enumerate(models.items()):
        report("table 1", done, len(models))
        if name in known:
            continue
        with warnings.catch_warnings(), threadpool_limits(1):  # many threads on few rows only wait
            warnings.simplefilter("ignore", ConvergenceWarning)  # epochs are counted on purpose
            if takes_all:
                x = scaler.transform(counted.features)
                model.fit(x, counted.solvable, sample_weight=counted.weights)
            else:
                model.fit(scaler.transform(fewer.features), fewer.solvable)

        def predict(features: Array, model: Any = model) -> Array:
            return np.asarray(model.predict(scaler.transform(features)))

        known[name] = {"train": accuracy(predict, rows), "test": accuracy(predict, tests)}
        write_json(path, known)
    report("table 1", len(models), len(models))
    return known


def _fit_and_judge(
    config: Config, training: Rows, tests: Rows, everything: Rows
) -> tuple[Model, dict[str, Any]]:
    """Return a logistic model, and how often it and its variants are right, by split.

    Variants have the features alone or all products, the usual penalty or the config's.
    """
    is_test = seeding.generator(config.seed, "rows").random(len(everything.seeds)) < (
        config.test_share
    )
    splits = {
        "deals": (training, tests),
        "rows": (everything.where(~is_test), everything.where(is_test)),
    }
    models = {}
    variants = []
    for split, (training, tests) in splits.items():
        for degree, c in itertools.product(sorted({1, config.degree}), sorted({USUAL_C, config.c})):
            model = models[split, degree, c] = fit(training, LOGISTIC, degree, c)
            variants.append(
                {"terms": len(model.coefficients), "c": c, "split_by": split}
                | _judge(model, training, tests)
            )
    facts = {"solvable": float(everything.solvable.mean()), "variants": variants}
    return models["deals", config.degree, config.c], facts


def _judge(model: Model, training: Rows, tests: Rows) -> dict[str, float]:
    return {"train": accuracy(model.predict, training), "test": accuracy(model.predict, tests)}


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Make rows, fit every model, save them in `folder`, and return their accuracies."""
    if not 1 <= config.degree <= DEGREE:
        raise CardlabError(f"degree {config.degree} is not offered; use 1 to {DEGREE}")
    if config.seeds < 2 or not 0 < config.test_share < 1:
        raise CardlabError("training needs two seeds at least, some to train and some to test")
    open_run(folder, config)
    rows = _make_rows(config, folder / "rows", report)
    first_test = config.first_seed + round(config.seeds * (1 - config.test_share))
    is_test = rows.seeds >= min(first_test, config.first_seed + config.seeds - 1)
    summary: dict[str, Any] = {"rows": len(rows.seeds), "models": {}}
    about = {
        "command": f"cardlab.games.birds_of_a_feather.learning.solvability.train({config})",
        "config": dataclasses.asdict(config),
        "rules_version": GAME.rules_version,
    }
    kinds = [(name, LOGISTIC, cards) for name, cards in RANGES.items()]
    kinds.append(("linear", LINEAR, RANGES["lr"]))
    for done, (name, kind, cards) in enumerate(kinds):
        report("models", done, len(kinds))
        path = folder / f"{name}.json"
        if not path.exists():
            in_range = np.isin(rows.cards, list(cards))
            training, tests = rows.where(in_range & ~is_test), rows.where(in_range & is_test)
            if kind == LOGISTIC:
                model, facts = _fit_and_judge(config, training, tests, rows.where(in_range))
            else:
                model, facts = fit(training, LINEAR, config.degree), {}
            facts |= {"rows": int(in_range.sum())} | _judge(model, training, tests)
            model.save(folder, name, about | {"accuracy": facts})
        summary["models"][name] = read_json(path)["accuracy"]
    report("models", len(kinds), len(kinds))
    if config.compare:
        training, tests = rows.where(~is_test), rows.where(is_test)
        summary["table 1"] = _compare(config, training, tests, folder, report)
    return summary
