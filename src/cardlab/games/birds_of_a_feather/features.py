"""Birds of a Feather as numbers: the paper's six features, their polynomial, and wider features.

Paper: "Machine Learning Based Heuristic Search Algorithms to Solve Birds of a Feather Card Game",
section 3. With n stacks left, the six features of a position are

    moves_per_card   moves / n
    pairs_per_card   pairs / n
    moves            legal moves, each direction for itself
    pairs            ordered pairs of top cards that fit, wherever they lie
    most_suit        top cards of the most frequent suit
    most_rank        top cards of the most frequent rank

A model looks at the 83 products of one, two or three of them, in the order of scikit-learn's
`PolynomialFeatures(degree=3, include_bias=False)`. Scaling each product to [0, 1] is affine, so a
scaled linear model is one constant and 83 weights on the plain products; `score` evaluates it
nested, with one multiplication for each weight.

A move takes the covered card out of the set of top cards and changes the legal moves; the features
of a child need nothing else, so the move is not made to score it.

`move_features` writes what an ordering of moves may go by beyond the six: the list `MOVE_FEATURES`.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from cardlab.engine.game import Array
from cardlab.engine.kernel import bit, count_bits, int64, kernel, lowest_bit
from cardlab.games.birds_of_a_feather.rules import (
    CELLS,
    DECK,
    EMPTY,
    FITS,
    FROM,
    PARTNER,
    TO,
    TOUCHING,
    pairs_after,
)

FEATURES = ("moves_per_card", "pairs_per_card", "moves", "pairs", "most_suit", "most_rank")
NUM_FEATURES = len(FEATURES)
DEGREE = 3
TERMS: tuple[tuple[int, ...], ...] = tuple(
    term
    for degree in range(1, DEGREE + 1)
    for term in itertools.combinations_with_replacement(range(NUM_FEATURES), degree)
)
NUM_TERMS = len(TERMS)
FIRST_SQUARE = 1 + sum(len(term) < 2 for term in TERMS)  # places in an array that begins with the
FIRST_CUBE = 1 + sum(len(term) < 3 for term in TERMS)  # constant of the model

MOVE_FEATURES = (
    "covered_fits",  # cards that fit the covered card
    "moved_fits",  # cards that fit the card that moves
    "left_lines",  # stacks in line with the cell that is left
    "end_lines",  # stacks in line with the cell that is reached
    "moves_after",  # legal moves afterwards
    "fewest_moves_after",  # moves of the least mobile stack afterwards
    "stuck_after",  # stacks without a move afterwards
    "fewest_fits_after",  # cards that fit the loneliest card afterwards
    "most_suit_after",  # cards of the most frequent suit afterwards
    "most_rank_after",  # cards of the most frequent rank afterwards
    "cards_apart_after",  # 1 if the cards fall into groups that do not fit each other
    "cells_apart_after",  # 1 if the stacks fall into groups without a common line
)

SUITS = np.array([sum(1 << card for card in range(k, DECK, 4)) for k in range(4)], dtype=np.int64)
LINES = np.array([sum(1 << int(c) for c in row) for row in PARTNER], dtype=np.int64)
ONES, PAIRS_OF_BITS, HALVES = 0x1111111111111, 0x3333333333333, 0x5555555555555  # 13 groups of 4


# The paper's six features


@kernel
def top_cards(s: Any) -> int:
    """Return the set of top cards."""
    cards = int64(0)
    for cell in range(CELLS):
        if s.tops[cell] != EMPTY:
            cards |= bit(s.tops[cell])
    return cards


@kernel
def occupied_cells(s: Any) -> int:
    """Return the set of cells that hold a stack."""
    cells = int64(0)
    for cell in range(CELLS):
        if s.tops[cell] != EMPTY:
            cells |= bit(cell)
    return cells


@kernel
def count_fits(cards: int) -> int:
    """Return the ordered pairs of cards of a set that fit."""
    count = int64(0)
    rest = int64(cards)
    while rest:
        count += count_bits(FITS[lowest_bit(rest)] & cards)
        rest &= rest - 1
    return count


@kernel
def most_of_a_suit(cards: int) -> int:
    """Return how many cards the most frequent suit of a set has."""
    most = int64(0)
    for suit in range(4):
        most = max(most, count_bits(cards & SUITS[suit]))
    return most


@kernel
def most_of_a_rank(cards: int) -> int:
    """Return how many cards the most frequent rank of a set has."""
    twos = cards - (cards >> 1 & HALVES)
    counts = (twos & PAIRS_OF_BITS) + (twos >> 2 & PAIRS_OF_BITS)  # four bits for each rank
    if counts >> 2 & ONES:
        return int64(4)
    if counts & counts >> 1 & ONES:
        return int64(3)
    if counts >> 1 & ONES:
        return int64(2)
    return int64(1) if counts else int64(0)


@kernel
def write_features(cards: int, fits: int, moves: int, out: Any) -> None:
    """Write the six features of a position with these top cards, fitting pairs and legal moves."""
    left = float(max(1, count_bits(cards)))
    out[0] = moves / left
    out[1] = fits / left
    out[2] = float(moves)
    out[3] = float(fits)
    out[4] = float(most_of_a_suit(cards))
    out[5] = float(most_of_a_rank(cards))


@kernel
def features_of(s: Any, out: Any) -> None:
    """Write the six features of a position."""
    cards = top_cards(s)
    write_features(cards, count_fits(cards), 2 * count_bits(s.pairs), out)


@kernel
def features_after(s: Any, action: int, cards: int, fits: int, out: Any) -> None:
    """Write the six features of the position after a move, without making it.

    `cards` and `fits` are those of the position before the move, the same for all its moves.
    """
    covered = int64(s.tops[TO[action]])
    write_features(
        cards & ~bit(covered),
        fits - 2 * count_bits(FITS[covered] & cards),
        2 * count_bits(pairs_after(s, action)),
        out,
    )


@kernel
def _write_all(states: Any, out: Any) -> None:
    for row in range(len(states)):
        features_of(states[row], out[row])


def features_of_all(states: Array) -> Array:
    """Return one row of six features for each state of an array."""
    out = np.empty((len(states), NUM_FEATURES))
    _write_all(states, out)
    return out


# The polynomial


def polynomial(features: Array) -> Array:
    """Return the 83 products of one to three features, one row for each row of features."""
    return np.stack([features[:, term].prod(axis=1) for term in map(list, TERMS)], axis=1)


@kernel
def score(weights: Any, x: Any) -> float:
    """Return a linear model's value: `weights` are its constant and 83 weights on plain products.

    Products that begin with the same features share a sum, so both pointers run in step with the
    order of the terms.
    """
    total = weights[0]
    square, cube = FIRST_SQUARE, FIRST_CUBE
    for i in range(NUM_FEATURES):
        by_first = weights[1 + i]
        for j in range(i, NUM_FEATURES):
            by_second = weights[square]
            square += 1
            for k in range(j, NUM_FEATURES):
                by_second += weights[cube] * x[k]
                cube += 1
            by_first += by_second * x[j]
        total += by_first * x[i]
    return total


# What an ordering of moves may go by


@kernel
def is_joined(members: int, links: Any) -> bool:
    """Return whether a set is connected, where `links[i]` are the neighbours of member i."""
    reached = members & -members
    new = reached
    while new:
        near = links[lowest_bit(new)] & members & ~reached
        new = new & (new - 1) | near
        reached |= near
    return reached == members


@kernel
def move_features(s: Any, action: int, cards: int, cells: int, wanted: int, out: Any) -> None:
    """Write those features of a move that the set `wanted` names, in the order of MOVE_FEATURES.

    `cards` and `cells` are the top cards and occupied cells before the move.
    """
    start, end = FROM[action], TO[action]
    covered, moved = int64(s.tops[end]), int64(s.tops[start])
    cards_after, cells_after = cards & ~bit(covered), cells & ~bit(start)
    if wanted & 0b1:
        out[0] = float(count_bits(FITS[covered] & cards))
    if wanted & 0b10:
        out[1] = float(count_bits(FITS[moved] & cards))
    if wanted & 0b100:
        out[2] = float(count_bits(LINES[start] & cells))
    if wanted & 0b1000:
        out[3] = float(count_bits(LINES[end] & cells))
    if wanted & 0b1110000:
        pairs = pairs_after(s, action)
        out[4] = 2.0 * count_bits(pairs)
        if wanted & 0b1100000:
            fewest = int64(CELLS)
            stuck = int64(0)
            rest = cells_after
            while rest:
                count = count_bits(pairs & TOUCHING[lowest_bit(rest)])
                fewest = min(fewest, count)
                stuck += count == 0
                rest &= rest - 1
            out[5] = float(fewest)
            out[6] = float(stuck)
    if wanted & 0b10000000:
        fewest = int64(CELLS)
        rest = cards_after
        while rest:
            fewest = min(fewest, count_bits(FITS[lowest_bit(rest)] & cards_after))
            rest &= rest - 1
        out[7] = float(fewest)
    if wanted & 0b100000000:
        out[8] = float(most_of_a_suit(cards_after))
    if wanted & 0b1000000000:
        out[9] = float(most_of_a_rank(cards_after))
    if wanted & 0b10000000000:
        out[10] = 0.0 if is_joined(cards_after, FITS) else 1.0
    if wanted & 0b100000000000:
        out[11] = 0.0 if is_joined(cells_after, LINES) else 1.0
