"""Graphs of a few steps that decide, for the tests of what is around them."""

import operator
from itertools import pairwise
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

BUY = "**Rating**: Buy\n\nOrders rose."


class State(TypedDict, total=False):
    ticker: str
    decision: str
    rating: str
    past_context: str
    log: Annotated[list[str], operator.add]


def in_line(*nodes, schema=State, options=None, **compiling):
    """A graph of nodes one after the other."""
    graph = StateGraph(schema, **(options or {}))
    names = [START, *(node.__name__ for node in nodes), END]
    for node in nodes:
        graph.add_node(node.__name__, node)
    for before, after in pairwise(names):
        graph.add_edge(before, after)
    return graph.compile(**compiling)


def think(state: State) -> dict[str, Any]:
    return {"log": ["thought"]}


def decide(state: State) -> dict[str, Any]:
    return {"decision": BUY}


def publish(state: State) -> dict[str, Any]:
    return {"log": ["published"]}
