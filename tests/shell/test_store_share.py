"""Which ownerless runs a replica takes: its share, and what lay too long."""

import pytest

from state.store.share import (
    ANSWER_SECONDS,
    DEAF_SECONDS,
    PATIENCE_SECONDS,
    SETTLE_SECONDS,
    Backlog,
    Share,
)

ONE = (("1 other", 1),)
OTHERS = (("1 b", 1), ("1 c", 1), ("1 d", 1))


def test_given_runs_of_ours_and_of_our_predecessor_when_picked_then_all_of_them() -> None:
    backlog = Backlog(5, 8, OTHERS, due=("a", "b"), left=("c", "d", "e"), loose=())

    assert Share().pick(backlog, 0) == ("a", "b", "c", "d", "e")


def test_given_loose_runs_when_picked_then_up_to_an_even_share() -> None:
    backlog = Backlog(1, 7, ONE, due=(), left=("p",), loose=("a", "b", "c", "d", "e"))

    assert Share().pick(backlog, 0) == ("p", "a", "b")


def test_given_nobody_else_took_them_when_patience_ends_then_they_are_ours() -> None:
    share = Share()
    full = Backlog(4, 6, ONE, due=(), left=(), loose=("a", "b"))

    early, late = share.pick(full, 100), share.pick(full, 100 + PATIENCE_SECONDS)

    assert early == ()
    assert late == ("a", "b")


def test_given_a_run_that_was_taken_meanwhile_when_it_lies_again_then_patience_begins_anew() -> None:
    share = Share()
    full = Backlog(4, 6, ONE, due=(), left=(), loose=("a",))
    share.pick(full, 0)
    share.pick(Backlog(4, 6, ONE, (), (), ()), 6)

    assert share.pick(full, PATIENCE_SECONDS) == ()


def test_given_a_store_that_knows_no_replica_when_picked_then_we_count_as_one() -> None:
    assert Share().pick(Backlog(0, 2, (), (), (), ("a", "b")), 0) == ("a", "b")


def leaving(mine: int, others: tuple[tuple[str, int], ...], loose: tuple[str, ...] = ()) -> Backlog:
    return Backlog(mine, mine + sum(load for _, load in others) + len(loose), others, (), (), loose)


def settled(backlog: Backlog) -> Share:
    """A share that has seen this backlog long enough for the next look to name an heir."""
    share = Share()
    assert share.heir(backlog, -SETTLE_SECONDS) == ""
    return share


@pytest.mark.parametrize(
    ("mine", "others", "heir"),
    [
        (1, (("1 b", 0),), ""),
        (2, (("1 b", 0),), "1 b"),
        (2, (("1 b", 1),), ""),
        (3, (("1 b", 1),), "1 b"),
        (4, (("1 b", 3), ("1 c", 0)), "1 c"),
        (3, (("1 b", 3), ("1 c", 1)), ""),
        (5, (), ""),
        (0, (("1 b", 9),), ""),
    ],
)
def test_given_shares_when_settled_then_one_run_goes_from_who_has_too_many_to_who_has_fewest(
    mine: int, others: tuple[tuple[str, int], ...], heir: str
) -> None:
    backlog = leaving(mine, others)

    assert settled(backlog).heir(backlog, 0) == heir


def test_given_a_newcomer_when_it_came_just_now_or_went_meanwhile_then_nothing_moves() -> None:
    share, alone, two = Share(), leaving(4, ()), leaving(4, (("1 b", 0),))
    seen = [share.heir(two, 0), share.heir(two, SETTLE_SECONDS - 1), share.heir(alone, SETTLE_SECONDS)]

    again = share.heir(two, SETTLE_SECONDS + 1)

    assert (*seen, again) == ("", "", "", "")


def test_given_a_run_that_was_left_when_nobody_took_it_yet_then_no_second_one_goes_and_we_do_not_take_it_back() -> None:
    before, after = leaving(4, (("1 b", 0),)), leaving(3, (("1 b", 0),), ("r",))
    share = settled(before)
    share.offered("r", share.heir(before, 0), 0)

    assert share.heir(after, 1) == ""
    assert share.pick(after, 1) == ()
    assert share.heir(leaving(3, (("1 b", 1),)), 2) == "1 b"


def test_given_an_heir_with_a_lease_that_takes_nothing_when_asked_then_the_run_is_taken_by_anybody_and_no_other_goes() -> (
    None
):
    before, after = leaving(4, (("1 b", 0), ("1 c", 2))), leaving(3, (("1 b", 0), ("1 c", 2)), ("r",))
    share = settled(before)
    share.offered("r", share.heir(before, 0), 0)
    share.pick(after, 0)

    silent = [share.heir(after, second) for second in range(1, int(ANSWER_SECONDS) + 1)]
    taken_back = share.pick(after, PATIENCE_SECONDS)
    back = [share.heir(before, PATIENCE_SECONDS + second) for second in range(60)]
    later = [share.heir(before, PATIENCE_SECONDS + DEAF_SECONDS + second) for second in range(6)]

    assert set(silent) == {""}
    assert taken_back == ("r",)
    assert set(back) == {""}
    assert later[-1] == "1 b"


def test_given_a_deaf_heir_when_another_lacks_runs_too_then_that_one_gets_them() -> None:
    after = leaving(5, (("1 b", 0), ("1 c", 1)), ("r",))
    share = settled(after)
    share.offered("r", "1 b", 0)

    assert share.heir(after, ANSWER_SECONDS + 1) == "1 c"


@pytest.mark.parametrize("start", [(9, 0), (9, 0, 0), (500, 0, 0), (0, 7, 0, 21), (1, 0), (2, 0, 0), (4, 4, 0)])
def test_given_any_start_when_all_share_then_it_ends_even_and_stays_so(start: tuple[int, ...]) -> None:
    """Every replica looks in turn, leaves one when told, and its heir takes it: nothing moves for ever."""
    loads, shares, moved = list(start), [Share() for _ in start], 0
    even = -(-sum(start) // len(start))
    for second in range(2 * sum(start) + 20):
        for place, share in enumerate(shares):
            others = tuple((f"1 {other}", load) for other, load in enumerate(loads) if other != place)
            heir = share.heir(leaving(loads[place], others), second)
            if heir:
                loads[place] -= 1
                loads[int(heir.split()[1])] += 1
                moved += 1

    assert max(loads) <= even
    assert moved == sum(max(0, load - even) for load in start)
