"""One year of real closes, and its replay through the agent."""

from tradmem.demo.run import DemoResult, run_demo
from tradmem.market.sample import BENCHMARK, TICKERS, demo_prices

__all__ = ["BENCHMARK", "TICKERS", "DemoResult", "demo_prices", "run_demo"]
