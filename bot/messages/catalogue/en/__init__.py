"""English: what happened, to which worker, what the bot does next, what one can do."""

from bot.messages.catalogue.en.access import ACCESS
from bot.messages.catalogue.en.answers import ANSWERS
from bot.messages.catalogue.en.cards import CARDS
from bot.messages.catalogue.en.failures import FAILURES
from bot.messages.catalogue.en.news import NEWS
from bot.messages.catalogue.en.phrases import PHRASES as PHRASES
from bot.messages.catalogue.en.preflight import PREFLIGHT
from bot.messages.catalogue.en.waits import WAITS

SENTENCES = PREFLIGHT | WAITS | FAILURES | ACCESS | ANSWERS | NEWS | CARDS
