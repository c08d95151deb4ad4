"""The Web API methods of the pretend workspace, one module for each family of Slack's."""

from sandbox.slack.call import Method
from sandbox.slack.methods import chat, conversations, marks, people, views

REGISTRY: dict[str, Method] = {
    **chat.METHODS,
    **conversations.METHODS,
    **marks.METHODS,
    **people.METHODS,
    **views.METHODS,
}
#: Methods that change nothing: they are not journalled.
READS = frozenset({
    "apps.connections.open", "auth.test", "bots.info", "chat.getPermalink", "conversations.history",
    "conversations.info", "conversations.list", "conversations.members", "conversations.replies", "team.info",
    "usergroups.list", "usergroups.users.list", "users.info",
})  # fmt: skip
