"""Supervised learning of Koi-Koi from recorded games of people, measured by cross-validation.

"Learning to Play Koi-Koi Hanafuda Card Games With Transformers", section IV-B and table I: a
network chooses among the cards that can be chosen, five-fold cross-validation on 200 games. Here
folds are made of whole games, so that no round is learned from and tested on at once.

200 games are few for a network of 1.3 million weights. What is done about it, all inside a fold's
own games: dropout and weight decay, labels softened a little, the mean of the weights over the
latest steps, and the symmetry of the deck - April and May are alike in all but their plants, and so
are June and October. The rare decisions, picks and calls, have 1,500 examples each: their networks
start from the weights that discards of the same games have formed (`transfer`). How long to learn
is decided by a share of a fold's own games that is kept back (`validation`); the games tested on
are looked at once, when that fold has ended. The final networks learn from all games for as many
epochs as the folds took at the median; with `folds=0` there is nothing but them, for `epochs`.

`start` names a run whose networks to begin with, for instance of `koi_koi/monte_carlo`: what these
have learned from play is a better start than random weights. Picks still follow
discards then; calls begin with what `start_koi_koi` names, since people call with an eye on the
whole game, which networks that learned to win points do not.

A fifth of the picks are between two plain cards of one month, which no rule distinguishes. Accuracy
is counted as the paper does, by the card, and once more with such cards as one (`alike`).
"""

from __future__ import annotations

import copy
import dataclasses
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cardlab.engine import seeding
from cardlab.engine.errors import CardlabError
from cardlab.engine.game import Array
from cardlab.engine.statistics import ratio_and_margin
from cardlab.games.koi_koi.cards import CUP, DECK, DROSS
from cardlab.games.koi_koi.learning.human_records import Decisions, read_decisions
from cardlab.games.koi_koi.learning.network_files import export as export
from cardlab.games.koi_koi.learning.network_files import (
    find_networks,
    load_networks,
    network_names,
    save_networks,
)
from cardlab.games.koi_koi.networks.transformer import (
    DESIGNS,
    KoiKoiTransformer,
    decisions_of,
    make_networks,
)
from cardlab.games.koi_koi.rules import GAME
from cardlab.games.koi_koi.tokens import DECISIONS, ENTERED, PENDING_CARD, TAKEN, WIDTH
from cardlab.learning.checkpoints import load_checkpoint, save_checkpoint
from cardlab.learning.devices import PRECISIONS, choose_device, number_type
from cardlab.learning.logs import Log
from cardlab.learning.runs import Report, open_run, provenance, read_json, write_json
from cardlab.learning.token_training import update_average
from cardlab.networks.weights import load_weights, save_weights

PAPER = {"discard": 0.740, "pick": 0.903, "koi_koi": 0.802, "overall": 0.759}  # table I
ALIKE = ((3, 4), (5, 9))  # months, from 0, that can change places
RUNTIME_SETTINGS = ("device", "minutes", "compile")
STEPS = 40  # of learning in an epoch, at least, where batches of 16 allow it
LARGE = 4096  # decisions at once where nothing is learned
PLAIN = np.arange(256)  # a token's own number, and one number for the plain cards of a month
for _card in range(DECK):
    if (DROSS & ~CUP) >> _card & 1:
        PLAIN[_card] = 256 + _card // 4


@dataclass(frozen=True)
class Config:
    """Settings of the training."""

    records: str = ""  # file of recorded games
    start: str = ""  # folder of a run, or shipped agent, whose networks to begin with
    start_koi_koi: str = ""  # the same for the network of calls alone; empty: start
    design: str = "separate"
    folds: int = 5
    validation: float = 0.1  # share of a fold's games that decide how long to learn; 0: all epochs
    epochs: int = 20
    batch: int = 128
    learning_rate: float = 3e-4
    weight_decay: float = 0.05
    dropout: float = 0.2
    smoothing: float = 0.05
    average: float = 0.995
    symmetry: bool = True
    transfer: bool = True  # pick, and koi_koi without start, begin with the same fold's discard
    final: bool = True
    width: int = 256  # of the networks; 256 is the paper's
    precision: str = "bf16"  # on a GPU; a processor computes in float32
    seed: int = 0
    device: str = ""
    compile: bool = True  # on a GPU
    minutes: float = 0.0  # stop with a checkpoint after so long; 0: never


def check(config: Config) -> None:
    """Raise an error if the settings are invalid."""
    if not config.records:
        raise CardlabError(
            "koi_koi/supervised learns from recorded games; name their file with records=FILE"
        )
    for name, known in (("design", DESIGNS), ("precision", tuple(PRECISIONS))):
        given = getattr(config, name)
        if given not in known:
            raise CardlabError(f"setting {name} must be {' or '.join(known)}, got {given}")
    if config.folds == 1 or config.folds < 0 or config.epochs < 1 or config.batch < 1:
        raise CardlabError("folds must be 0 or at least 2, epochs and batch 1 or more")
    if config.start_koi_koi and (not config.start or config.design == "shared"):
        raise CardlabError(
            f"setting start_koi_koi={config.start_koi_koi} goes with start and separate networks; "
            "set start too, and design=separate"
        )
    if config.folds == 0 and not config.final:
        raise CardlabError("with folds=0 and final=false nothing is left to learn; change one")
    if not (0 <= config.validation < 1 and 0 <= config.dropout < 1 and 0 <= config.average < 1):
        raise CardlabError("validation, dropout and average must be at least 0 and below 1")


def symmetries() -> tuple[Tensor, Tensor]:
    """Return for each way to exchange months where a row's bytes come from, and where tokens go."""
    sources, moves = [], []
    for chosen in range(1 << len(ALIKE)):
        move = np.arange(256)  # of tokens and cards; other bytes stay
        for number, (one, other) in enumerate(ALIKE):
            if chosen >> number & 1:
                for card in range(4):
                    move[4 * one + card], move[4 * other + card] = 4 * other + card, 4 * one + card
        source = np.arange(WIDTH)
        for start in (0, ENTERED, TAKEN):
            source[start : start + DECK] = start + move[:DECK]  # an exchange is its own inverse
        sources.append(source)
        moves.append(move)
    return torch.from_numpy(np.array(sources)), torch.from_numpy(np.array(moves))


def _loss(
    network: KoiKoiTransformer, rows: Tensor, choices: Tensor, slots: Tensor, smoothing: float
) -> Tensor:
    values = network(rows, choices)
    repeated = choices == choices[:, :1]
    barred = repeated & (torch.arange(choices.shape[1], device=choices.device) > 0)
    chances = torch.log_softmax(values.masked_fill(barred, -1e9), dim=1)
    taken = chances.gather(1, slots[:, None])[:, 0]
    evenly = chances.masked_fill(barred, 0.0).sum(1) / (~barred).sum(1)
    return -((1.0 - smoothing) * taken + smoothing * evenly).mean()


class Unit:
    """One network learning from some games: the smallest piece of work that is kept whole."""

    def __init__(
        self,
        config: Config,
        name: str,
        key: str,
        learned: Decisions,
        validated: Decisions | None,
        epochs: int,
        compiled_loss: Any,
        device: torch.device,
    ) -> None:
        self.config, self.name, self.key, self.epochs = config, name, key, epochs
        self.device, self._loss = device, compiled_loss
        torch.manual_seed(seeding.stream(config.seed, "koi_koi_supervised", key, name))
        made = make_networks(
            config.design,
            width=config.width,
            dropout=config.dropout,
            dtype=number_type(config.precision, device),
        )
        self.network = made[name].to(device)
        self.averaged = copy.deepcopy(self.network).eval()
        self.best = copy.deepcopy(self.network).eval()
        self.modules = {"network": self.network, "averaged": self.averaged, "best": self.best}
        self.optimiser = torch.optim.AdamW(
            self.network.parameters(),
            lr=config.learning_rate,
            weight_decay=config.weight_decay,
            fused=True,
        )
        self.data = tuple(
            torch.from_numpy(one).to(device)
            for one in (learned.rows, learned.choices, learned.slots.astype(np.int64))
        )
        self.validated = validated
        self.epoch, self.best_epoch, self.best_loss = 0, 0, float("inf")
        self.source, self.move = (one.to(device) for one in symmetries())

    def run_epoch(self) -> dict[str, float]:
        """Learn from all games once; return the losses."""
        rows, choices, slots = self.data
        where = ("koi_koi_supervised", self.key, self.name, self.epoch)
        torch.manual_seed(seeding.stream(self.config.seed, *where))  # dropout
        rng = seeding.generator(self.config.seed, *where)
        order = torch.from_numpy(rng.permutation(len(rows))).to(self.device)
        turned = torch.from_numpy(rng.integers(0, len(self.move), len(rows))).to(self.device)
        # The rare decisions take smaller batches: their networks need as many steps to form.
        size = min(self.config.batch, max(16, len(rows) // STEPS), len(rows))
        batches = len(rows) // size
        total = torch.zeros((), device=self.device)
        self.network.train()
        for i in range(batches):
            which = order[i * size : (i + 1) * size]
            row, choice, slot = (one.index_select(0, which) for one in (rows, choices, slots))
            if self.config.symmetry:
                row, choice = self._turn(row, choice, turned[which])
            step = self.epoch * batches + i
            self.optimiser.param_groups[0]["lr"] = self._rate(step, batches)
            loss = self._loss(self.network, row, choice, slot, self.config.smoothing)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimiser.step()
            self.optimiser.zero_grad(set_to_none=True)
            keep = min(self.config.average, (step + 1) / (step + 10))
            update_average(self.averaged, self.network, keep)
            total += loss.detach()
        self.epoch += 1
        found = {"loss": float(total) / batches}
        if self.validated is None:
            self.best.load_state_dict(self.averaged.state_dict())
            self.best_epoch = self.epoch
        else:
            loss, right, _ = self.test(self.averaged, self.validated)
            found |= {"validation loss": loss, "validation accuracy": float(right.mean())}
            if loss < self.best_loss:
                self.best_loss, self.best_epoch = loss, self.epoch
                self.best.load_state_dict(self.averaged.state_dict())
        return found

    def _turn(self, row: Tensor, choice: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
        """Return decisions as they would be with some months exchanged."""
        row = row.gather(1, self.source[turned])
        pending = self.move[turned].gather(1, row[:, PENDING_CARD, None].long())
        row[:, PENDING_CARD] = pending[:, 0].to(torch.uint8)
        return row, self.move[turned].gather(1, choice.long()).to(torch.uint8)

    def _rate(self, step: int, batches: int) -> float:
        """Rise over the first epoch, then fall along a cosine to nothing."""
        if step < batches:
            return self.config.learning_rate * (step + 1) / batches
        share = (step - batches) / max(self.epochs * batches - batches, 1)
        return self.config.learning_rate * 0.5 * (1.0 + float(np.cos(np.pi * share)))

    def test(self, network: KoiKoiTransformer, decisions: Decisions) -> tuple[float, Array, Array]:
        """Return the mean log loss, what was predicted, and what was but for equal cards."""
        right, alike, losses = [], [], []
        for start in range(0, len(decisions.rows), LARGE):
            part = decisions.only(np.arange(start, min(start + LARGE, len(decisions.rows))))
            rows, choices = (
                torch.from_numpy(one).to(self.device) for one in (part.rows, part.choices)
            )
            slots = torch.from_numpy(part.slots.astype(np.int64)).to(self.device)
            with torch.no_grad():
                best = network(rows, choices).argmax(1)
                losses.append(float(_loss(network, rows, choices, slots, 0.0)) * len(rows))
            right.append((best == slots).cpu().numpy())
            cards = choices.gather(1, torch.stack([best, slots], dim=1)).cpu().numpy()
            alike.append(PLAIN[cards[:, 0]] == PLAIN[cards[:, 1]])
        return sum(losses) / len(decisions.rows), np.concatenate(right), np.concatenate(alike)

    # The state of a unit that is not done

    def save(self, path: Path) -> None:
        """Keep how far the unit is."""
        about = {
            "key": self.key,
            "name": self.name,
            "epoch": self.epoch,
            "best epoch": self.best_epoch,
            "best loss": self.best_loss,
        }
        save_checkpoint(path, self.modules, {"optimiser": self.optimiser}, about)

    def load(self, path: Path) -> None:
        """Resume from the file if it belongs to this unit."""
        if not path.exists():
            return
        about = load_weights(path)[1]
        if (about["key"], about["name"]) != (self.key, self.name):
            return
        load_checkpoint(path, self.modules, {"optimiser": self.optimiser}, str(self.device))
        self.epoch, self.best_epoch = about["epoch"], about["best epoch"]
        self.best_loss = about["best loss"]


class Training:
    """The whole run: every fold and network, then the final networks."""

    def __init__(self, config: Config, folder: Path, report: Report) -> None:
        self.config, self.folder, self.report = config, folder, report
        self.started = time.perf_counter()
        self.device = choose_device(config.device)
        compiled = config.compile and self.device.type == "cuda"
        self.loss: Any = torch.compile(_loss) if compiled else _loss
        self.decisions = read_decisions(Path(config.records))
        self.num_games = int(self.decisions.games.max()) + 1
        if self.num_games < config.folds:
            raise CardlabError(
                f"{config.records} holds {self.num_games} games, too few for {config.folds} folds"
            )
        rng = seeding.generator(config.seed, "koi_koi_supervised", "folds")
        self.fold_of = rng.permutation(self.num_games) % max(config.folds, 1)
        self.began: dict[str, KoiKoiTransformer] = {}
        if config.start:
            self.began = self._networks_of("start")
        if config.start_koi_koi:
            self.began["koi_koi"] = self._networks_of("start_koi_koi")["koi_koi"]
        self.results: dict[str, Any] = read_json(folder / "results.json") or {}
        done = sum(one["epochs"] for one in self.results.values())
        self.log = Log(folder, last_step=done)
        self.step = done

    def _networks_of(self, setting: str) -> dict[str, KoiKoiTransformer]:
        """Return the networks that a setting names to begin with."""
        given = getattr(self.config, setting)
        found = find_networks(given, setting)
        networks, design, _ = load_networks(found, self.device, torch.float32)
        if design != self.config.design:
            raise CardlabError(
                f"{setting}={given} has networks of design {design}; set design={design}"
            )
        return networks

    def run(self) -> bool:
        """Do what is left; return whether all is done."""
        names = network_names(self.config.design)
        units = [(f"fold {fold}", name) for fold in range(self.config.folds) for name in names]
        if self.config.final:
            units += [("final", name) for name in names]
        for number, (key, name) in enumerate(units):
            self.report("networks", number, len(units))
            if f"{key}/{name}" not in self.results and not self._run_unit(key, name):
                return False
        self.report("networks", len(units), len(units))
        return True

    def _run_unit(self, key: str, name: str) -> bool:
        path = self.folder / "unit.safetensors"
        unit = self._make_unit(key, name)
        unit.load(path)
        while unit.epoch < unit.epochs:
            numbers = unit.run_epoch()
            entry = {f"{key}/{name}/{what}": number for what, number in numbers.items()}
            self.log.write(self.step + unit.epoch, **entry)
            shown = ", ".join(f"{what} {number:.3f}" for what, number in numbers.items())
            self.report(f"{key} {name}: {shown}", unit.epoch, unit.epochs)
            if self._time_is_up() or self.device.type == "cpu":
                unit.save(path)
            if self._time_is_up() and unit.epoch < unit.epochs:
                return False
        self._finish(unit, key, name)
        path.unlink(missing_ok=True)
        return True

    def _time_is_up(self) -> bool:
        spent = time.perf_counter() - self.started
        return bool(self.config.minutes) and spent > 60 * self.config.minutes

    def _make_unit(self, key: str, name: str) -> Unit:
        config, mine = self.config, self._of_network(name)
        if key == "final":
            learned, validated = mine, None
            folds = [f"fold {fold}/{name}" for fold in range(config.folds)]
            taken = [self.results[one]["best epoch"] for one in folds]
            epochs = round(float(np.median(taken))) if taken else config.epochs
        else:
            games = np.flatnonzero(self.fold_of != int(key.split()[1]))
            rng = seeding.generator(config.seed, "koi_koi_supervised", "validation", key)
            held = rng.permutation(games)[: round(config.validation * len(games))]
            learned = mine.only(np.isin(mine.games, np.setdiff1d(games, held)))
            validated = mine.only(np.isin(mine.games, held)) if len(held) else None
            epochs = config.epochs
        if len(learned.rows) == 0 or (validated is not None and len(validated.rows) == 0):
            raise CardlabError(
                f"{config.records} has too few games: {key} has no decision of {name}"
            )
        unit = Unit(config, name, key, learned, validated, epochs, self.loss, self.device)
        start: dict[str, Tensor] | None = None
        if config.transfer and name in self._followers():
            start = load_weights(self._start(key), str(self.device))[0]
        elif config.start:
            start = self.began[name].state_dict()
            if self.began[name].outcomes:  # its last layer predicts them, and cannot rate
                fresh = unit.network.state_dict()
                start |= {key: fresh[key] for key in fresh if key.startswith("network.last.")}
                start = {key: start[key] for key in fresh}
        if start is not None:
            for network in unit.modules.values():
                network.load_state_dict(start)
        return unit

    def _followers(self) -> tuple[str, ...]:
        """Return the networks that begin with what discards have formed."""
        return ("pick",) if self.config.start else ("pick", "koi_koi")

    def _start(self, key: str) -> Path:
        return self.folder / f"start-{key.replace(' ', '-')}.safetensors"

    def _of_network(self, name: str) -> Decisions:
        place = network_names(self.config.design).index(name)
        few = decisions_of(self.config.design)[place]
        wanted = [DECISIONS.index(one) for one in few]
        return self.decisions.only(np.isin(self.decisions.kinds, wanted))

    def _finish(self, unit: Unit, key: str, name: str) -> None:
        """Test a fold once and keep what came out, or keep the final network."""
        result: dict[str, Any] = {"best epoch": unit.best_epoch, "epochs": unit.epochs}
        about = {"key": key, "name": name}
        if self.config.transfer and name == "discard":
            save_weights(self._start(key), unit.best.state_dict(), about)
        if key == "final":
            path = self.folder / f"final-{name}.safetensors"
            save_weights(path, unit.best.state_dict(), about)
        else:
            mine = self._of_network(name)
            games = np.flatnonzero(self.fold_of == int(key.split()[1]))
            decisions = mine.only(np.isin(mine.games, games))
            _, right, alike = unit.test(unit.best, decisions)
            for number, decision in enumerate(DECISIONS):
                which = decisions.kinds == number
                if which.any():
                    of_game, size = decisions.games[which], self.num_games
                    result[decision] = {
                        "right": np.bincount(of_game, right[which], size).tolist(),
                        "alike": np.bincount(of_game, alike[which], size).tolist(),
                        "of": np.bincount(of_game, minlength=size).tolist(),
                    }
        self.results[f"{key}/{name}"] = result
        write_json(self.folder / "results.json", self.results)
        if name == network_names(self.config.design)[-1]:  # the fold is done
            self._start(key).unlink(missing_ok=True)
        self.step += unit.epochs

    def accuracies(self) -> dict[str, Any]:
        """Return the accuracy of each kind of decision over all folds, with the paper's beside."""
        found: dict[str, Any] = {}
        of_all = {what: np.zeros(self.num_games) for what in ("right", "alike", "of")}
        for decision in DECISIONS:
            parts = [one[decision] for one in self.results.values() if decision in one]
            if not parts:
                continue
            counts = {what: np.sum([part[what] for part in parts], axis=0) for what in of_all}
            of_all = {what: of_all[what] + count for what, count in counts.items()}
            found |= _accuracy(decision, **counts)
        return found | _accuracy("overall", **of_all) if of_all["of"].any() else found


def _accuracy(name: str, right: Array, alike: Array, of: Array) -> dict[str, Any]:
    """Return a share with its 95 % interval; games, not decisions, are what is independent."""
    counts = {f"decisions/{name}": int(of.sum()), f"paper/{name}": PAPER[name]}
    return _share(f"accuracy/{name}", right, of) | counts | _share(f"alike/{name}", alike, of)


def _share(name: str, right: Array, of: Array) -> dict[str, float]:
    share, margin = ratio_and_margin(right, of)
    return {name: round(share, 4), f"{name} margin": round(margin, 4)}


def train(config: Config, folder: Path, report: Report) -> dict[str, Any]:
    """Cross-validate, then train the final networks; return the accuracies."""
    check(config)
    fixed = {name: getattr(Config, name) for name in RUNTIME_SETTINGS}
    named = dataclasses.replace(config, **fixed, records=Path(config.records).name)
    open_run(folder, named)
    ended = read_json(folder / "summary.json")
    if ended is not None:
        for name in network_names(config.design):  # of a run that was killed in its last moment
            (folder / f"final-{name}.safetensors").unlink(missing_ok=True)
        report("networks", 1, 1)
        return dict(ended["summary"])
    training = Training(config, folder, report)
    with closing(training.log):
        finished = training.run()
    summary = {"finished": finished, **training.accuracies()}
    if finished and config.final:
        networks = make_networks(config.design, width=config.width)
        for name, network in networks.items():
            network.load_state_dict(load_weights(folder / f"final-{name}.safetensors")[0])
        origin = provenance(GAME, "cardlab train koi_koi/supervised", named)
        save_networks(folder, networks, config.design, {**origin, "summary": summary})
        write_json(folder / "summary.json", {**origin, "summary": summary})
        for name in networks:
            (folder / f"final-{name}.safetensors").unlink()
    return summary
