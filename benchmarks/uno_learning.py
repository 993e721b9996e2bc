"""Speed of learning Uno: batched play by a network, and DQN beside the same DQN fed by RLCard.

The network is the paper's, 420-512-512-61; three seats, two of them random. Measured are

- decisions a second of greedy play, and what the network alone could do;
- games a second played for training, by our batches and by RLCard's `env`;
- games a second of the whole DQN on both: playing, then learning each transition once. Here almost
  all time goes into the matrix products of learning, which are the same on both sides, so that on a
  processor the ratio says little; `--device cuda` measures ours on a graphics card.

Times are CPU seconds of all threads, divided by their number, so that a busy machine does not count
(on a graphics card: of the clock). Threads of torch that wait for each other count as busy: on a
busy machine measure `--threads 1`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from rlcard.games.uno.utils import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    cards2list,
    encode_hand,
    encode_target,
)

from cardlab.games.uno.learning.dqn import Config, Learner, Steps, Transitions
from cardlab.games.uno.learning.games import Games, table
from cardlab.games.uno.learning.runs import greedy
from cardlab.learning.devices import choose_device
from rlcard_peer import make_environment

ROWS = 4096
EXPLORE = 0.1  # late in training
WANTED_DECISIONS = 200_000


def clock(threads: int) -> float:
    """Return seconds in which all threads were busy; with 0 threads those of the clock."""
    return time.process_time() / threads if threads else time.perf_counter()


def play(seconds: float, threads: int) -> tuple[float, float, float]:
    """Return decisions and games a second of greedy play, and decisions of the network alone."""
    learner = Learner(Config(), torch.device("cpu"))
    games = Games(ROWS, [table(3)], "paper", seed=1, threads=threads)
    features, legal = torch.from_numpy(games.features), torch.from_numpy(games.legal)
    games.step(greedy(learner.online, features, legal).numpy())
    rates = []
    before = games.finished
    for plays in (True, False):
        start, decisions = clock(threads), 0
        while clock(threads) - start < seconds:
            choices = greedy(learner.online, features, legal).numpy()
            if plays:
                games.step(choices)
            decisions += ROWS
        rates.append(decisions / (clock(threads) - start))
        if plays:
            rates.append((games.finished - before) / (clock(threads) - start))
    games.close()
    return rates[0], rates[1], rates[2]


def train_on_ours(seconds: float, threads: int, device: torch.device) -> float:
    """Return the games a second of DQN in the fast loop."""
    config = Config()
    learner = Learner(config, device)
    on_card = device.type == "cuda"
    rows = 4 * ROWS if on_card else ROWS
    games = Games(rows, [table(3)], "paper", seed=1, threads=threads, pinned=on_card)
    steps = Steps(64, rows, 420, device)
    generator = torch.Generator(device).manual_seed(1)
    counted = 0 if on_card else threads
    finished, start = 0, clock(counted)
    while clock(counted) - start < seconds or steps.at < 20:
        games.step(greedy(learner.online, *steps.note(games)).cpu().numpy(), EXPLORE)
        steps.note_actions(games)
        if steps.at == 4:  # the first steps compile, and have little to learn from
            finished, start = games.finished, clock(counted)
        if steps.at > 0:
            for _ in range(rows // config.batch):
                learner.learn_from(steps.draw(config.batch, generator))
    rate = (games.finished - finished) / (clock(counted) - start)
    games.close()
    return rate


def train_on_rlcard(seconds: float, *, learns: bool) -> float:
    """Return the games a second of the same DQN with games, turns and other seats of RLCard."""
    config = Config()
    learner = Learner(config, torch.device("cpu"))
    environment = make_environment(3)
    rng = np.random.default_rng(1)
    waiting: list[tuple[np.ndarray, int, float, bool, np.ndarray, int]] = []

    def turn() -> np.ndarray:
        planes = np.zeros((7, 4, 15), dtype=np.uint8)
        seat = environment.get_player_id()
        players = environment.game.players
        others = [card for k, one in enumerate(players) if k != seat for card in one.hand]
        encode_hand(planes[:3], cards2list(players[seat].hand))
        encode_hand(planes[3:6], cards2list(others))
        encode_target(planes[6], environment.game.round.target.str)
        return planes.reshape(-1)

    games, start = 0, clock(1)
    while clock(1) - start < seconds:
        state, seat = environment.reset()
        before: tuple[np.ndarray, int] | None = None
        while not environment.is_over():
            if seat != 0:
                state, seat = environment.step(environment.agents[seat].step(state))
                continue
            seen, legal = turn(), list(state["legal_actions"])
            if before is not None:
                waiting.append((*before, 0.0, False, seen, sum(1 << one for one in legal)))
            if rng.random() < EXPLORE:
                action = int(rng.choice(legal))
            else:
                sets = torch.tensor([sum(1 << one for one in legal)])
                action = int(greedy(learner.online, torch.from_numpy(seen[None]), sets))
            before = (seen, action)
            state, seat = environment.step(action)
        if before is not None:
            result = 1.0 if environment.game.round.winner == 0 else -1.0
            waiting.append((*before, result, True, before[0], 1))
        games += 1
        if learns and len(waiting) >= config.batch:
            some, waiting = waiting[: config.batch], waiting[config.batch :]
            seen, actions, rewards, ended, later, sets = zip(*some, strict=True)
            learner.learn_from(
                Transitions(
                    torch.from_numpy(np.stack(seen)),
                    torch.tensor(actions),
                    torch.tensor(rewards),
                    torch.tensor(ended),
                    torch.from_numpy(np.stack(later)),
                    torch.tensor(sets),
                    torch.zeros(len(some), dtype=torch.int64),
                )
            )
    return games / (clock(1) - start)


def main() -> None:
    """Measure and print; write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each measurement")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu", help="where our DQN learns")
    parser.add_argument("--json", type=Path, help="write all numbers to this file")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    decisions, played, products = play(given.seconds, given.threads)
    ours = train_on_ours(given.seconds, given.threads, choose_device(given.device))
    torch.set_num_threads(1)  # one game at a time: more threads would only wait
    their_play = train_on_rlcard(given.seconds, learns=False)
    theirs = train_on_rlcard(given.seconds, learns=True)
    print(f"{given.threads} threads; peers on one core")
    print(f"greedy play:         {decisions:11,.0f} decisions/s (>= {WANTED_DECISIONS:,} on two)")
    print(f"the network alone:   {products:11,.0f} decisions/s")
    for what, mine, peer in (("played", played, their_play), ("learned", ours, theirs)):
        print(
            f"games {what + ':':<15}{mine:11,.0f} games/s, RLCard {peer:,.0f}, {mine / peer:,.0f} x"
        )
    if given.json:
        numbers = {
            "threads": given.threads,
            "decisions": decisions,
            "network": products,
            "games played": [played, their_play],
            "games learned": [ours, theirs],
        }
        given.json.write_text(json.dumps(numbers, indent=2) + "\n")


if __name__ == "__main__":
    main()
