"""A passed alarm is told once, words of people until they are taken."""

from state.store.alarms import REPEAT_SECONDS, SPOKEN, Alarms


def test_given_an_alarm_that_stays_when_asked_again_then_it_is_told_once_and_again_much_later() -> None:
    alarms = Alarms()
    due = (("run-1", "1796000000000"),)

    assert alarms.news(due, 0) == ("run-1",)
    assert alarms.news(due, 1) == ()
    assert alarms.news(due, REPEAT_SECONDS) == ("run-1",)
    assert alarms.news(due, REPEAT_SECONDS + 1) == ()


def test_given_words_that_nobody_took_when_asked_again_then_they_are_told_each_time() -> None:
    alarms = Alarms()

    assert [alarms.news((("run-1", SPOKEN),), second) for second in range(3)] == [("run-1",)] * 3


def test_given_a_new_alarm_or_one_that_went_and_came_when_asked_then_it_is_told() -> None:
    alarms = Alarms()
    alarms.news((("run-1", "1"), ("run-2", "1")), 0)

    assert alarms.news((("run-1", "2"), ("run-2", "1")), 1) == ("run-1",)
    assert alarms.news((), 2) == ()
    assert alarms.news((("run-2", "1"),), 3) == ("run-2",)


def test_given_a_word_after_an_alarm_when_it_was_taken_then_the_next_alarm_is_told() -> None:
    alarms = Alarms()
    seen = [alarms.news((("run-1", moment),), place) for place, moment in enumerate(("5", SPOKEN, "9", "9"))]

    assert seen == [("run-1",), ("run-1",), ("run-1",), ()]
