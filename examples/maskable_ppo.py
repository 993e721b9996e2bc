"""Train MaskablePPO of sb3-contrib on Crazy Eights until it beats `heuristic`, on one core.

    pip install 'cardlab[examples]'
    python examples/maskable_ppo.py

It first imitates `heuristic`, actions and results of its games, then improves by MaskablePPO in
games against it, a few minutes in all; keeps the policy in `maskable_ppo.zip`, and lets it play
`heuristic` on paired deals of other seeds. The same seed gives the same policy and the same
figure on the same machine. Afterwards the policy is an agent like any other:

    cd examples
    cardlab match crazy_eights maskable_ppo:learned:path=../maskable_ppo.zip heuristic --games 2000
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from cardlab.agents.catalog import find_agent
from cardlab.arena.match import Match, play_match
from cardlab.interop.stable_baselines3 import CardVecEnv, PolicyAgent
from cardlab.interop.vector import CardVectorEnv

GAME, OPPONENT = "crazy_eights", "heuristic"
STEPS = 64
LESSON = 64
DOUBT = 0.15  # an imitation without it is too sure to try anything else later
# Three sets of deals that have nothing in common: learning starts at --seed.
IMITATION_SEED, EVALUATION_SEED = 500_000, 1_000_003


def make(*, rows: int, seed: int) -> MaskablePPO:
    """Return a model that knows nothing yet and learns in `rows` games at once."""
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)  # a tenth of the time
    return MaskablePPO(
        "MlpPolicy",
        CardVecEnv(GAME, rows, opponents=OPPONENT),
        policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
        learning_rate=lambda left: 1.2e-3 * left,
        n_steps=STEPS,
        batch_size=min(2048, STEPS * rows),
        n_epochs=4,
        gamma=1.0,  # a game is won or lost, soon or late
        gae_lambda=0.8,  # the value is good from the start, single results are noisy
        ent_coef=0.005,
        seed=seed,
        device="cpu",
    )


def imitate(model: MaskablePPO, decisions: int, rows: int, seed: int) -> None:
    """Teach the policy what `heuristic` does, and the value how its games end."""
    games = CardVectorEnv(GAME, rows, opponents=OPPONENT)
    teacher: Any = find_agent(OPPONENT, games.game)
    seen, _ = games.reset(seed=seed + IMITATION_SEED)
    for _ in range(max(1, decisions // (LESSON * rows))):
        lesson: dict[str, list[Any]] = {name: [] for name in ("seen", "done", "mask", "won", "end")}
        for _ in range(LESSON):
            actions = teacher.act_many(games.batch.turns(np.arange(rows)), [])
            for name, value in (("seen", seen), ("done", actions), ("mask", games.action_masks())):
                lesson[name].append(value)
            seen, rewards, over, _, _ = games.step(actions)
            lesson["won"].append(rewards)
            lesson["end"].append(over)
        study(model, {name: np.array(values) for name, values in lesson.items()})


def study(model: MaskablePPO, lesson: dict[str, np.ndarray]) -> None:
    """Fit policy and value to one lesson, once over."""
    won, known = np.zeros_like(lesson["won"]), np.zeros_like(lesson["end"])
    result, finished = won[0], known[0]
    for step in reversed(range(LESSON)):  # how the game of every decision ended, where it did
        result = np.where(lesson["end"][step], lesson["won"][step], result)
        finished = finished | lesson["end"][step]
        won[step], known[step] = result, finished
    flat = {name: torch.as_tensor(value).flatten(0, 1) for name, value in lesson.items()}
    target = torch.as_tensor(won, dtype=torch.float32).flatten()
    weight = torch.as_tensor(known, dtype=torch.float32).flatten()
    for group in model.policy.optimizer.param_groups:
        group["lr"] = 1e-3
    for rows in torch.randperm(len(target)).split(1024):
        values, log_prob, entropy = model.policy.evaluate_actions(
            flat["seen"][rows], flat["done"][rows], action_masks=flat["mask"][rows].numpy()
        )
        missed = weight[rows] * (values.flatten() - target[rows]) ** 2
        loss = missed.mean() - log_prob.mean() - DOUBT * entropy.mean()
        model.policy.optimizer.zero_grad()
        loss.backward()
        model.policy.optimizer.step()


def learned(path: str = "maskable_ppo.zip") -> PolicyAgent:
    """Return the agent whose policy was kept at `path`."""
    torch.set_num_threads(1)
    return PolicyAgent(MaskablePPO.load(path, device="cpu"), name="maskable_ppo")


def main(arguments: list[str]) -> None:
    """Train, keep, measure, and print one line for each."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument(
        "--imitate", type=int, default=1_000_000, help="decisions to imitate first"
    )
    options.add_argument("--steps", type=int, default=4_000_000, help="decisions of MaskablePPO")
    options.add_argument("--rows", type=int, default=512, help="games at once")
    options.add_argument("--games", type=int, default=20_000, help="games of the evaluation")
    options.add_argument("--seed", type=int, default=0, help="the same seed, the same policy")
    options.add_argument("--out", type=Path, default=Path("maskable_ppo.zip"))
    asked = options.parse_args(arguments)
    model = make(rows=asked.rows, seed=asked.seed)
    for what, learn in (
        ("imitation", lambda: imitate(model, asked.imitate, asked.rows, asked.seed)),
        ("MaskablePPO", lambda: model.learn(asked.steps)),
    ):
        began = time.process_time()
        learn()
        model.save(asked.out)
        print(f"{time.process_time() - began:.0f} CPU seconds of {what}: ", end="", flush=True)
        measure(asked.out, asked.games)


def measure(path: Path, games: int) -> None:
    """Let the policy play its opponent on paired deals and print its score."""
    agent = f"maskable_ppo:learned:path={path}"
    plan = Match.plan(GAME, [agent, OPPONENT], games, EVALUATION_SEED, {})
    result = play_match(plan, workers=1)
    mine = result.standings[0]
    low, high = mine.score_interval or (0.0, 1.0)
    beyond = "beyond the interval" if low > 0.5 else "not beyond the interval"
    print(
        f"score against {OPPONENT}: {100 * mine.score:.1f} % [{100 * low:.1f}, {100 * high:.1f}] "
        f"(95 %) in {result.games:,} games on paired deals: {beyond} of an even match"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
