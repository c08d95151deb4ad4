"""Deutsch: was geschah, welchem Worker, was der Bot als Nächstes tut, was man tun kann."""

from bot.messages.catalogue.de.access import ACCESS
from bot.messages.catalogue.de.answers import ANSWERS
from bot.messages.catalogue.de.cards import CARDS
from bot.messages.catalogue.de.failures import FAILURES
from bot.messages.catalogue.de.news import NEWS
from bot.messages.catalogue.de.phrases import PHRASES as PHRASES
from bot.messages.catalogue.de.preflight import PREFLIGHT
from bot.messages.catalogue.de.waits import WAITS

SENTENCES = PREFLIGHT | WAITS | FAILURES | ACCESS | ANSWERS | NEWS | CARDS
