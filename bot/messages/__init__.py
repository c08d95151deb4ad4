"""Words, pure: a run or a reason becomes text and blocks. The only place of the product that holds sentences."""

from bot.messages.plain import plain as plain
from bot.messages.plain import terminal as terminal
from bot.messages.words import Words as Words
