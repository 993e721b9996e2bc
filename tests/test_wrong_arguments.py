"""Wrong arguments of the Python API: one sentence each, never a raw exception.

Each row is a call as a person would write it, and the sentence that answers it.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cardlab import Batch, Table, find_agent, play_game
from cardlab.arena.match import Match
from cardlab.arena.store import Store
from cardlab.arena.tournament import Plan, enter
from cardlab.engine.errors import CardlabError

# What the calls below may name, by the module that it is imported from.
HOMES = {
    "cardlab": "Batch Table find_agent find_game play_game",
    "cardlab.agents.catalog": "adviser_of agents_for find_agents strength_of",
    "cardlab.agents.outside": "OutsideAgent as_command",
    "cardlab.arena.compliance": "check_program",
    "cardlab.arena.export": "export_games",
    "cardlab.arena.leaderboard": "leaderboards",
    "cardlab.arena.match": "Match play_deals play_match",
    "cardlab.arena.ratings": "rate",
    "cardlab.arena.sprt": "Test judge play_sprt read_counts",
    "cardlab.arena.store": "Store",
    "cardlab.arena.tournament": "Plan enter play_tournament resume",
    "cardlab.engine.cards": "parse_card",
    "cardlab.engine.manifest": "load",
    "cardlab.engine.observation": "observation_of",
    "cardlab.engine.play": "ask ask_values check_action",
    "cardlab.engine.records": "Record append_records read_records",
    "cardlab.engine.replay": "replay",
    "cardlab.engine.seeding": "generator read_seed",
    "cardlab.games.crazy_eights.agents.tabular_q": "TabularQ",
    "cardlab.games.cribbage.scoring": "explain_in_words score_text",
    "cardlab.games.cribbage.solvers.advice": "advise parse_hand parse_score",
    "cardlab.learning": "find_training",
    "cardlab.search": "alpha_beta information_set monte_carlo uct",
    "cardlab.show.explanation": "ask_about explain",
    "cardlab.show.notebook": "html_of",
    "cardlab.show.pictures": "card_svg card_title deck_for deck_of describe_openly hand_svg "
    "picture_of sprite symbol_id table_svg",
    "cardlab.testing": "audit_random_games check_agent check_game check_playthrough fingerprint "
    "playthrough random_table retrace",
}

GAME = "game must be a Game or the name of one, got "
AGENT = "agent must be the name of one or an object with a name and a method act, got "
RNG = "rng must be a Generator, got 3; np.random.default_rng(0) makes one"

WRONG = {
    # games and tables
    "find_game(None)": GAME + "None",
    "find_game('crazy_eight')": "unknown game 'crazy_eight'; did you mean 'crazy_eights'?",
    "find_game(['uno'])": GAME + "['uno']",
    "Table('crazy_eight', seed=1)": "unknown game 'crazy_eight'",
    "Table(3, seed=1)": GAME + "3",
    "Table('uno', seed='1')": "seed '1' is not a whole number",
    "Table('uno')": "uno needs deal 1, but got 0 deals and no seed; give a seed",
    "Table('uno', seed=1, deals=3)": "deals of uno must be a list of deck orders, got 3",
    "Table('uno', seed=1, dealer=3)": "dealer of uno must be a function",
    "Table('uno', seed=1, seats=3)": "give options of the game in one dict: options={'seats': 3}",
    "Table('uno', seed=1, options=3)": "options of uno must be a dict of names and values, got 3",
    "table.act('7H')": "seat 0 cannot take action '7H'",
    "table.act(None)": "seat 0 cannot take action None",
    "table.record(3)": "must be 2 names, one for each seat, got 3",
    "table.record('ab')": "must be 2 names, one for each seat, got 'ab'",
    "table.record(['a'])": "must be 2 names, one for each seat, got ['a']",
    "table.record(['a', 3])": "must be 2 names, one for each seat, got ['a', 3]",
    "table.record(['a', 'b'], note=3)": "note must be a text such as 'played at home', got 3",
    "table.state.view('0')": "crazy_eights has no seat '0'; its seats are 0 to 1",
    "table.game.parse_order(5)": "a deck order of crazy_eights must be a text",
    "table.game.start(seats=3)": "options={'seats': 3}",
    "check_action(3, 1)": "state must be a State, got 3",
    "ask(heuristic, 3, rng)": "state must be a State, got 3",
    "ask(3, table.state, rng)": "agent 3, of type int, has no name",
    "ask_values(3, table.turn(), rng)": "agent must be one with a method values(turn, rng), got 3",
    "ask_values(searcher, 3, rng)": "turn must be a Turn, got 3; table.turn() returns one",
    # agents
    "find_agent(None, 'uno')": AGENT + "None",
    "find_agent('nobody', 'uno')": "unknown agent 'nobody'; known: ",
    "find_agent('random', None)": GAME + "None",
    "find_agents('random', 'uno')": "agents must be a list of names or agents, one for each seat",
    "find_agents(None, 'uno')": "agents must be a list of names or agents",
    "agents_for(3)": GAME + "3",
    "adviser_of(None)": GAME + "None",
    "strength_of(None, 'uno')": "agent must be a text such as 'heuristic', got None",
    "strength_of('nobody', 'uno')": "unknown agent 'nobody'",
    "strength_of('heuristic', 'unoo')": "unknown game 'unoo'; did you mean 'uno'?",
    "OutsideAgent(3)": "command must be a text such as 'cmd:./my_agent', got 3",
    "OutsideAgent('cmd:python3', 3)": "limits must be Limits(move_seconds=...), got 3",
    "as_command(3)": "command must be a text such as './my_agent --flag', got 3",
    "TabularQ(3)": "table must be a text or a pathlib.Path, got 3",
    "check_program(3, 'uno')": "command must be a text such as './my_agent', got 3",
    # games between agents
    "play_game(None, ['random', 'random'])": GAME + "None",
    "play_game('uno', 'random')": "agents must be a list of names or agents",
    "play_game('uno', ['random'])": "uno needs 2 agents, got 1",
    "play_game('uno', ['random', None])": AGENT + "None",
    "play_game('uno', ['random', 'random'], seed=None)": "seed None is not a whole number",
    "play_game('uno', ['random', 'random'], seats=2)": "options={'seats': 2}",
    "Match.plan(3, ['random', 'heuristic'])": GAME + "3",
    "Match.plan('uno', 'random')": "agents must be a list of names or agents",
    "Match.plan('uno', ['random', 3])": AGENT + "3",
    "Match.plan('uno', ['random', 'heuristic'], games='10')": "games must be a whole number",
    "Match.plan('uno', ['random', 'heuristic'], limits=3)": "limits must be Limits(",
    "Match.plan('uno', ['random', 'heuristic'], seats=3)": "options={'seats': 3}",
    "play_match('uno')": "match must be a Match, got 'uno'; make one by Match.plan",
    "play_match(match, workers=0)": "workers must be at least 1, got 0",
    "play_match(match, progress=3)": "progress must be a function, got 3",
    "play_match(match, save='x.jsonl')": "save must be a function, got 'x.jsonl'",
    "play_deals(3)": "shard must be a Shard, got 3",
    # batches
    "Batch('uno', '10')": "batch size must be a whole number, got '10'",
    "Batch('uno', 10, seats=3)": "options={'seats': 3}",
    "batch.turns([-1])": "rows must be numbers from 0 to 2 or a mask of 3 games, got [-1]",
    "batch.turns([3])": "rows must be numbers from 0 to 2 or a mask of 3 games, got [3]",
    "batch.turns(None)": "rows must be numbers from 0 to 2 or a mask of 3 games, got None",
    "batch.turns([[0]])": "rows must be numbers from 0 to 2 or a mask of 3 games, got [[0]]",
    "batch.turns('all')": "rows must be numbers from 0 to 2 or a mask of 3 games, got 'all'",
    "batch.step_some([-1], batch.mask.argmax(axis=1))": "rows must be numbers from 0 to 2",
    "batch.restart([-1], [7])": "rows must be numbers from 0 to 2",
    "batch.views([0], [9])": "seats must be 1 whole numbers from 0 to 1",
    "batch.step('abc')": "actions of a batch of 3 games must be 3 whole numbers",
    "observation_of(3)": GAME + "3",
    # records and seeds
    "read_records(3)": "path must be a text or a pathlib.Path, got 3",
    "list(read_records('none.jsonl'))": "none.jsonl cannot be read: No such file or directory",
    "append_records(None)": "path must be a text or a pathlib.Path, got None",
    "append_records('x.jsonl', 3)": "append_records writes Records, got 3",
    "Record.from_line(3)": "a record must be a line of JSON, got 3",
    "list(replay('x'))": "record must be a Record, got 'x'; read_records reads them",
    "list(replay(record, game=3))": GAME + "3",
    "read_seed('7')": "seed '7' is not a whole number",
    "generator(1.5, 'seat')": "seed 1.5 is not a whole number",
    "parse_card(7)": "a card must be a text such as 7H, got 7",
    "load(None)": "import string must be a text such as 'package.module:NAME', got None",
    # tournaments
    "Plan.make(3, ['random', 'heuristic'])": GAME + "3",
    "Plan.make('uno', ['random', 'heuristic'], '10')": "games must be a whole number, got '10'",
    "Plan.make('uno', ['random', 'heuristic'], format='x')": "unknown format 'x'",
    "Plan.of(3)": "entered must be an Entered, got 3",
    "enter(3, store)": "plan must be a Plan, got 3; make one by Plan.make",
    "enter(plan, 'arena.db')": "store must be a Store, got 'arena.db'; open one by Store(path)",
    "resume(plan, None)": "store must be a Store, got None",
    "play_tournament(plan, None, None)": "store must be a Store, got None",
    "play_tournament(plan, store, 'first')": "entered must be an Entered, got 'first'",
    "play_sprt(plan, None, store)": "test must be a Test, got None; make one by Test(",
    "play_tournament(plan, store, entered, stop=3)": "stop must be a function, got 3",
    "find_training(3)": "training must be a text such as 'GAME/METHOD', got 3",
    "Test('a', 1.0).check()": "elo0 must be a number, got 'a'",
    "Test(0.0, float('nan')).check()": "elo1 must be a number, got nan",
    "Test(alpha=True).check()": "alpha must be a number, got True",
    "judge('abc', Test())": "counts must be five whole numbers",
    "judge(None, Test())": "counts must be five whole numbers",
    "judge([1, 2, 3, 4], Test())": "counts must be five whole numbers",
    "judge([1, 2, 3, 4, -5], Test())": "each of the five counts must be at least 0, got -5",
    "judge([1, 2, 3, 4, 5], None)": "test must be a Test, got None",
    "read_counts(None)": "counts must be a text such as '379,10170,21828,10640,343', got None",
    "leaderboards(None)": "store must be a Store, got None; open one by Store(path)",
    "leaderboards(store, 3)": GAME + "3",
    "rate(None, {})": "agents must be a list of names, got None",
    "rate(['a', 'b'], None)": "deals must be a dict of the outcomes on every deal, got None",
    "rate(['a', 'b'], {0: {((0,), (1,)): 1}}, reference='c')": "unknown agent 'c'",
    "Store(3)": "a store must be a path or postgresql://user@host/database, got 3",
    "store.find(3)": "a tournament's name must be a text such as 'first', got 3",
    "export_games(store, 'first', 'x.csv')": "tournaments must be a list of those in a store",
    "export_games(store, ['first'], 'x.csv')": "entered must be an Entered, got 'first'",
    "export_games(store, [], 3)": "path must be a text or a pathlib.Path, got 3",
    # conformance
    "check_game(None)": GAME + "None",
    "check_game('uno', seeds=3)": "seeds must be a list of whole numbers, got 3",
    "check_game('uno', seeds=['a'])": "seed 'a' is not a whole number",
    "check_game('uno', {'wat': 1})": "unknown option of uno 'wat'",
    "check_agent(None, 'uno')": "agent must be an agent, the name of one, or a class or function",
    "check_agent('nobody', 'uno')": "unknown agent 'nobody'",
    "check_agent(lambda x: x, 'uno')": "cannot be made",
    "check_agent('random', 3)": GAME + "3",
    "random_table('unoo', None, 1)": "unknown game 'unoo'",
    "random_table('uno', None, 'a')": "seed 'a' is not a whole number",
    "random_table('uno', None, 1, -1)": "plies must be at least 0, got -1",
    "list(retrace(3))": "table must be a Table, got 3",
    "audit_random_games('unoo', 10)": "unknown game 'unoo'",
    "audit_random_games('uno', -1)": "count must be at least 0, got -1",
    "audit_random_games('uno', '10')": "count must be a whole number, got '10'",
    "fingerprint('uno', None, 3)": "seeds must be a list of whole numbers, got 3",
    "playthrough(3, None, 1)": GAME + "3",
    "check_playthrough('uno', 3)": "path must be a text or a pathlib.Path, got 3",
    # searches
    "monte_carlo.evaluate(3, 10, rng)": "turn must be a Turn, got 3",
    "monte_carlo.evaluate(table.turn(), 'a', rng)": "worlds must be a whole number, got 'a'",
    "monte_carlo.evaluate(table.turn(), 10, 3)": RNG,
    "monte_carlo.evaluate_open(3, 10, rng)": "state must be a State, got 3",
    "information_set.search(table.turn(), 0, rng)": "iterations must be at least 1, got 0",
    "uct.search(table.turn(), 10, rng)": "state must be a State, got",
    "uct.search(table.state, 10, 3)": RNG,
    "alpha_beta.evaluate(table.state, -1)": "depth must be at least 1, got -1",
    # what people see
    "explain('x', 1, 'heuristic')": "record must be a Record, got 'x'",
    "explain(record, 'a', 'heuristic')": "ply must be a whole number, got 'a'",
    "explain(record, -1, 'heuristic')": "--ply -1 is not in the game",
    "explain(record, 1, 3)": AGENT + "3",
    "explain(record, 1, 'random')": "agent 'random' does not say what actions are worth",
    "ask_about('random', 3)": "turn must be a Turn, got 3",
    "html_of(3)": "a int has no display of its own; print it",
    "deck_for(None)": GAME + "None",
    "deck_of(3)": GAME + "3",
    "picture_of(3)": "a picture shows a Table, a State or a View, got 3",
    "describe_openly(None)": "state must be a State, got None",
    "table_svg(3, 'standard')": "description must be a Description, got 3",
    "hand_svg('standard', None)": "cards must be a list of texts such as 7H, got None",
    "hand_svg('standard', ['7H'], 'a')": "size must be a number, got 'a'",
    "hand_svg('standard', ['7H'], 0)": "size must be greater than 0 pixels, got 0",
    "card_svg('standard', 7)": "card must be a text such as '7H', got 7",
    "card_svg(['x'], '7H')": "deck must be a text such as 'standard', got ['x']",
    "card_title('standart', '7H')": "unknown deck 'standart'; did you mean 'standard'?",
    "card_title('standard', '1H')": "unknown card of the standard deck '1H'",
    "sprite('plain', 3)": "cards must be a list of texts such as 7H, got 3",
    "symbol_id(None)": "card must be a text such as '7H', got None",
    # Cribbage
    "parse_hand(None)": "hand must be a text such as '5H 5D 6S JC 4H KD', got None",
    "parse_score(None)": "score must be a text such as '78-81', got None",
    "advise('5H', dealer=True)": "the hand has 1 card; give six",
    "advise(None, dealer=True)": "cards must be a text or six card ids, got None",
    "advise('5H 5D 6S JC 4H KD', dealer='no')": "dealer must be True or False, got 'no'",
    "advise('5H 5D 6S JC 4H KD', dealer=True, score=7)": "score must be yours and the other's",
    "scoring.explain('x', 'y')": "unknown card 'x'",
    "scoring.explain(None, '5D')": "the hand must be a text such as 5H 5C 5S JD, got None",
    "scoring.explain([1, 2, 3, 99], 7)": "a card of the hand must be at most 51, got 99",
    "explain_in_words('5H 5C 5S JD', None)": "a card of the cut must be a whole number, got None",
    "score_text(None, '5D')": "hand must be a text such as '5H 5C 5S JD', got None",
}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What the calls of the table may name, with things that are right."""
    for module in (
        "search.alpha_beta",
        "search.information_set",
        "search.monte_carlo",
        "search.uct",
    ):
        import_module(f"cardlab.{module}")
    public = {
        name: getattr(import_module(home), name)
        for home, names in HOMES.items()
        for name in names.split()
    }
    with Store(tmp_path_factory.mktemp("store") / "arena.db") as store:
        plan = Plan.make("crazy_eights", ["random", "heuristic"], 2)
        yield public | {
            "entered": enter(plan, store),
            "scoring": import_module("cardlab.games.cribbage.scoring"),
            "table": Table("crazy_eights", seed=1),
            "record": play_game("crazy_eights", ["random", "random"], seed=1),
            "batch": Batch("crazy_eights", 3),
            "match": Match.plan("crazy_eights", ["random", "heuristic"], games=2),
            "plan": plan,
            "store": store,
            "heuristic": find_agent("heuristic", "crazy_eights"),
            "searcher": find_agent("monte_carlo:10", "crazy_eights"),
            "rng": np.random.default_rng(0),
        }


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_argument_is_one_sentence(
    call: str, names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CardlabError) as caught:
        eval(call, names)
    said = str(caught.value)
    assert WRONG[call] in said
    assert said == said.strip()
    assert len(said.splitlines()) == 1
    assert not list(tmp_path.iterdir()), "a mistake leaves no file behind"
