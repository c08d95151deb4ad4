"""auth.test, users.*, usergroups.*, team.info, bots.info: who is who.

Roles of a scenario's people: approvers form the user group; "guest", "stranger" and "deactivated" set the flags by
which Slack marks people a bot must not trust.
"""

from typing import Any

from sandbox.scenario import Person
from sandbox.slack import identity
from sandbox.slack.call import Answer, Call
from sandbox.slack.content import bot_profile
from sandbox.slack.errors import SlackError


def auth_test(call: Call) -> Answer:
    return {
        "url": f"{call.base}/",
        "team": identity.TEAM_NAME,
        "user": identity.BOT_NAME,
        "team_id": identity.TEAM_ID,
        "user_id": identity.BOT_USER,
        "bot_id": identity.BOT_ID,
        "is_enterprise_install": False,
    }


def user_info(call: Call) -> Answer:
    wanted = call.text("user")
    if wanted == identity.BOT_USER:
        bot = Person(identity.BOT_USER, identity.BOT_NAME, "bot")
        return {"user": _user(bot, call.workspace.created)}
    person = call.workspace.people.get(wanted)
    if person is None:
        raise SlackError("user_not_found")
    return {"user": _user(person, call.workspace.created)}


def group_list(call: Call) -> Answer:
    users = _approvers(call)
    group = {
        "id": identity.APPROVERS_GROUP,
        "team_id": identity.TEAM_ID,
        "is_usergroup": True,
        "is_subteam": True,
        "name": "Approvers",
        "description": "May approve disruptive steps",
        "handle": "gpu-approvers",
        "is_external": False,
        "date_create": call.workspace.created,
        "date_update": call.workspace.created,
        "date_delete": 0,
        "created_by": users[0] if users else "",
        "prefs": {"channels": [], "groups": []},
        "channel_count": 0,
    }
    if call.flag("include_users"):
        group["users"] = users
    if call.flag("include_count"):
        group["user_count"] = len(users)
    return {"usergroups": [group]}


def group_users(call: Call) -> Answer:
    if call.text("usergroup") != identity.APPROVERS_GROUP:
        raise SlackError("no_such_subteam")
    return {"users": _approvers(call)}


def team_info(call: Call) -> Answer:
    if call.text("team", identity.TEAM_ID) != identity.TEAM_ID:
        raise SlackError("team_not_found")
    team = {
        "id": identity.TEAM_ID,
        "name": identity.TEAM_NAME,
        "url": f"{call.base}/",
        "domain": identity.TEAM_DOMAIN,
        "email_domain": "",
        "icon": {"image_34": "", "image_default": True},
    }
    return {"team": team}


def bot_info(call: Call) -> Answer:
    if call.text("bot", identity.BOT_ID) != identity.BOT_ID:
        raise SlackError("bot_not_found")
    profile = {key: value for key, value in bot_profile().items() if key != "team_id"}
    return {"bot": {**profile, "user_id": identity.BOT_USER}}


def _approvers(call: Call) -> list[str]:
    return [person.id for person in call.workspace.people.values() if person.role == "approver"]


def _user(person: Person, updated: int) -> dict[str, Any]:
    is_bot = person.role == "bot"
    real_name = person.name.replace("-", " ").title()
    user: dict[str, Any] = {
        "id": person.id,
        "team_id": identity.TEAM_ID,
        "name": person.name,
        "deleted": person.role == "deactivated",
        "color": "4bbe2e",
        "real_name": real_name,
        "tz": "Etc/UTC",
        "tz_label": "Coordinated Universal Time",
        "tz_offset": 0,
        "profile": _profile(person, real_name),
        "is_admin": False,
        "is_owner": False,
        "is_primary_owner": False,
        "is_restricted": person.role == "guest",
        "is_ultra_restricted": False,
        "is_bot": is_bot,
        "is_app_user": False,
        "updated": updated,
        "is_email_confirmed": not is_bot,
        "who_can_share_contact_card": "EVERYONE",
    }
    return {**user, "is_stranger": True} if person.role == "stranger" else user


def _profile(person: Person, real_name: str) -> dict[str, Any]:
    profile = {
        "title": person.role,
        "phone": "",
        "skype": "",
        "real_name": real_name,
        "real_name_normalized": real_name,
        "display_name": person.name,
        "display_name_normalized": person.name,
        "status_text": "",
        "status_emoji": "",
        "status_expiration": 0,
        "avatar_hash": f"g{person.id[-8:].lower()}",
        "team": identity.TEAM_ID,
    }
    if person.role == "bot":
        profile |= {"api_app_id": identity.APP_ID, "always_active": True, "bot_id": identity.BOT_ID}
    return profile


METHODS = {
    "auth.test": auth_test,
    "users.info": user_info,
    "usergroups.list": group_list,
    "usergroups.users.list": group_users,
    "team.info": team_info,
    "bots.info": bot_info,
}
