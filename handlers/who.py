"""Who is heard at all, and who may steer. Ids only, never names; pure.

Approvers answer questions (`state.approval.refusal` judges that, here and once more when the event is taken), operators
steer, reading is free for everybody of our own workspace (B062).
"""

from handlers.signals import Body, is_bot_or_guest, speaker, teams
from state.approval import may_operate
from state.policy import Policy
from state.reasons import Code, Reason, reason


def turned_away(body: Body, team: str) -> Reason | None:
    """Why nothing at all is done for this speaker; None for a member of our workspace.

    `team`: our own team id. A payload that names another team, or none although ours is known, is foreign: people of
    connected workspaces show up in our channels.
    """
    if is_bot_or_guest(body) or not speaker(body).user:
        return reason(Code.WRONG_TEAM)
    named = teams(body)
    foreign = any(other != team for other in named) or not named
    return reason(Code.WRONG_TEAM) if team and foreign else None


def not_operator(policy: Policy, user: str) -> Reason | None:
    """Why this user may not prepare, start, pause, resume, retry or abort; None when they may."""
    return None if may_operate(policy, user) else reason(Code.NOT_OPERATOR, user=user)
