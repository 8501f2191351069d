from tests.yahoo.fixtures import yahoo, yahoo_server

__all__ = ["yahoo", "yahoo_server"]
