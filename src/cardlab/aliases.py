"""Names that were used before version 0.2 and still work: agents, trainings, import strings.

They stand in people's stored tournaments, records and run folders. Nothing else in the package uses
the old names.
"""

from __future__ import annotations

__all__ = ["AGENTS", "MODULES", "OBJECTS", "TRAININGS", "current_agent", "current_reference"]

# game -> old name of an agent -> its name now
AGENTS = {
    "crazy_eights": {"fair": "guided"},
    "uno": {"fair": "guided"},
    "koi_koi": {"koi_koi_terms": "koi_koi_linear"},
}

TRAININGS = {
    "koi_koi/terms": "koi_koi/linear",
    "cribbage/tosses": "cribbage/discards",
}

# module -> where it is now
MODULES = {
    "cardlab.agents.cribbage_expert": "cardlab.games.cribbage.agents.expert",
    "cardlab.agents.cribbage_pegging": "cardlab.games.cribbage.agents.pegging",
    "cardlab.agents.cribbage_strategies": "cardlab.games.cribbage.agents.strategies",
    "cardlab.agents.koi_koi_network": "cardlab.games.koi_koi.agents.network",
    "cardlab.agents.koi_koi_search": "cardlab.games.koi_koi.agents.search",
    "cardlab.agents.koi_koi_terms": "cardlab.games.koi_koi.agents.linear",
    "cardlab.agents.rule_based": "cardlab.agents.heuristic",
    "cardlab.agents.solver": "cardlab.games.birds_of_a_feather.agents.solver",
    "cardlab.agents.tabular_q": "cardlab.games.crazy_eights.agents.tabular_q",
    "cardlab.agents.uno_network": "cardlab.games.uno.agents.network",
    "cardlab.agents.uno_searchers": "cardlab.games.uno.agents.search",
    "cardlab.solvers.birds_depth_first": "cardlab.games.birds_of_a_feather.solvers.depth_first",
    "cardlab.solvers.birds_mcts": "cardlab.games.birds_of_a_feather.solvers.mcts",
    "cardlab.solvers.birds_models": "cardlab.games.birds_of_a_feather.solvers.models",
    "cardlab.solvers.birds_of_a_feather": "cardlab.games.birds_of_a_feather.solvers.solver",
    "cardlab.solvers.birds_paper": "cardlab.games.birds_of_a_feather.solvers.paper_searches",
    "cardlab.solvers.birds_queue": "cardlab.games.birds_of_a_feather.solvers.best_first",
    "cardlab.solvers.crazy_eights": "cardlab.games.crazy_eights.solver",
    "cardlab.solvers.cribbage_advice": "cardlab.games.cribbage.solvers.advice",
    "cardlab.solvers.cribbage_knowledge": "cardlab.games.cribbage.solvers.knowledge",
    "cardlab.solvers.cribbage_lay_away": "cardlab.games.cribbage.solvers.discards",
    "cardlab.solvers.cribbage_play": "cardlab.games.cribbage.solvers.pegging",
    "cardlab.solvers.cribbage_statistics": "cardlab.games.cribbage.solvers.hand_statistics",
    "cardlab.solvers.koi_koi_playouts": "cardlab.games.koi_koi.playouts",
    "cardlab.solvers.uno_playouts": "cardlab.games.uno.playouts",
    "cardlab.solvers.uno_worlds": "cardlab.games.uno.worlds",
}

# module:NAME -> where it is now, where the name changed or the module was divided
OBJECTS = {
    "cardlab.agents.koi_koi_terms:KoiKoiTerms": "cardlab.games.koi_koi.agents.linear:KoiKoiLinear",
    "cardlab.agents.token_network:crazy_eights_transformer": (
        "cardlab.games.crazy_eights.agents.transformer:crazy_eights_transformer"
    ),
    "cardlab.agents.token_network:uno_transformer": (
        "cardlab.games.uno.agents.transformer:uno_transformer"
    ),
    "cardlab.agents.uno_searchers:UnoFair": "cardlab.games.uno.agents.search:Guided",
    "cardlab.agents.searchers:Fair": "cardlab.games.crazy_eights.agents.search:Guided",
    **{
        f"cardlab.agents.searchers:{name}": f"cardlab.games.crazy_eights.agents.search:{name}"
        for name in ("AlphaBetaPointsOpen", "AlphaBetaWinsOpen", "Determinised", "OracleOpen")
    },
}


def current_reference(reference: str) -> str:
    """Return an import string `module:NAME` with the place that it has now."""
    module, colon, rest = reference.partition(":")
    name, more, parameters = rest.partition(":")
    found = OBJECTS.get(f"{module}:{name}") or f"{MODULES.get(module, module)}{colon}{name}"
    return f"{found}{more}{parameters}"


def current_agent(spec: str, game: str) -> str:
    """Return the name of an agent, with its parameters, as it is now."""
    name, colon, rest = spec.partition(":")
    if name in AGENTS.get(game, {}):
        return f"{AGENTS[game][name]}{colon}{rest}"
    return spec if name == "cmd" else current_reference(spec)
