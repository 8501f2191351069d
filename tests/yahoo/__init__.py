"""A local Yahoo for tests and for people: ``python -m tests.yahoo --port P``."""

from tests.yahoo.chart import Fault
from tests.yahoo.server import Request, YahooServer

__all__ = ["Fault", "Request", "YahooServer"]
