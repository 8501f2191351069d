"""One year of real closes, and its replay through the agent."""

from tradmem.demo.prices import BENCHMARK, TICKERS, demo_prices
from tradmem.demo.run import DemoResult, run_demo

__all__ = ["BENCHMARK", "TICKERS", "DemoResult", "demo_prices", "run_demo"]
