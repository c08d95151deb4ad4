"""Say how long something took or may take, short enough for a line of a table."""

from datetime import timedelta


def duration(span: timedelta) -> str:
    """`42 s`, `3 min 05 s`, `1 h 20 min`, `2 d 3 h`. Units are the same in both languages; negative counts as zero."""
    seconds = max(0, round(span.total_seconds()))
    minutes, rest = divmod(seconds, 60)
    hours, minutes_rest = divmod(minutes, 60)
    days, hours_rest = divmod(hours, 24)
    if days:
        return f"{days} d {hours_rest} h"
    if hours:
        return f"{hours} h {minutes_rest:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{seconds} s"
