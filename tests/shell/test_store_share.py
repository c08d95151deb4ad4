"""Which ownerless runs a replica takes: its share, and what lay too long."""

from state.store.share import PATIENCE_SECONDS, Backlog, Share


def test_given_runs_of_ours_and_of_our_predecessor_when_picked_then_all_of_them() -> None:
    backlog = Backlog(mine=5, active=8, alive=4, due=("a", "b"), left=("c", "d", "e"), loose=())

    assert Share().pick(backlog, 0) == ("a", "b", "c", "d", "e")


def test_given_loose_runs_when_picked_then_up_to_an_even_share() -> None:
    backlog = Backlog(mine=1, active=7, alive=2, due=(), left=("p",), loose=("a", "b", "c", "d", "e"))

    assert Share().pick(backlog, 0) == ("p", "a", "b")


def test_given_nobody_else_took_them_when_patience_ends_then_they_are_ours() -> None:
    share = Share()
    full = Backlog(mine=4, active=6, alive=2, due=(), left=(), loose=("a", "b"))

    early, late = share.pick(full, 100), share.pick(full, 100 + PATIENCE_SECONDS)

    assert early == ()
    assert late == ("a", "b")


def test_given_a_run_that_was_taken_meanwhile_when_it_lies_again_then_patience_begins_anew() -> None:
    share = Share()
    full = Backlog(mine=4, active=6, alive=2, due=(), left=(), loose=("a",))
    share.pick(full, 0)
    share.pick(Backlog(4, 6, 2, (), (), ()), 6)

    assert share.pick(full, PATIENCE_SECONDS) == ()


def test_given_a_store_that_knows_no_replica_when_picked_then_we_count_as_one() -> None:
    assert Share().pick(Backlog(0, 2, 0, (), (), ("a", "b")), 0) == ("a", "b")
