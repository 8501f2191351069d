"""Two analysts debate, and a judge decides: an example with analysts of your own.

    resolve -> recall -> analyse -> bull -> bear -> judge -> record

It runs as it stands, without a key: the analysts argue from the closes by a template. Hand in a
function of your own to ``build`` to have a model speak for them.
"""

from collections.abc import Callable, Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph

from tradmem.agent import AgentInput, AgentState, Brief, analyse_node
from tradmem.memory import Memory
from tradmem.nodes import recall_node, record_node, resolve_node

AGENT = "debate"
SPANS = {
    "week": "over 5 sessions",
    "month": "over 20 sessions",
    "quarter": "over 60 sessions",
    "year": "over the 12 months before the last one",
}
RATINGS = ("Sell", "Underweight", "Hold", "Overweight", "Buy")

Speak = Callable[[str, Mapping[str, Any]], str]


class Debate(AgentState, total=False):
    """What a run puts together: the agent's state, and what the two have said.

    Attributes:
        bull: the case for the ticker.
        bear: the case against it, which has heard the other one.
    """

    bull: str
    bear: str


def points(state: Mapping[str, Any], side: int) -> list[str]:
    """What the closes say for one side: 1 for the bull, -1 for the bear.

    Raises:
        PriceError: there are no closes; without them nobody has an opinion.
    """
    brief = Brief.from_json(state["brief"])
    if brief.error and brief.last is None:
        raise brief.error
    found = []
    for name, span in SPANS.items():
        move = getattr(brief, name)
        if move and move.strength * side > 0:
            found.append(f"{span} it moved {move.strength:+.1%} against the market")
    return found


def template(side: str, state: Mapping[str, Any]) -> str:
    """A case made of the figures alone."""
    found = points(state, 1 if side == "bull" else -1)
    case = "; ".join(found) if found else "nothing in the closes speaks for my side"
    answer = " I have heard the bull, and the figures stand." if side == "bear" else ""
    return f"{side.capitalize()}: {case}.{answer}"


def judge(state: Mapping[str, Any]) -> dict[str, Any]:
    """Weigh both cases; what was recalled about the ticker is told beside them."""
    lead = len(points(state, 1)) - len(points(state, -1))
    rating = RATINGS[2 + max(-2, min(2, lead // 2 if lead > 0 else -(-lead // 2)))]
    seen = f"{len(state['recalled'])} earlier memories were at hand."
    parts = [f"**Rating**: {rating}", state["bull"], state["bear"], seen]
    return {"decision": "\n\n".join(parts), "rating": rating}


def build(memory: Memory, speak: Speak = template) -> Any:
    """The graph, compiled without a checkpointer: a server brings its own.

    Args:
        memory: what it remembers with.
        speak: gives the text of a side, ``bull`` or ``bear``, from the state so far.
    """
    graph = StateGraph(Debate, input_schema=AgentInput)
    nodes = {
        "resolve": resolve_node(memory),
        "recall": recall_node(memory, agent=AGENT),
        "analyse": analyse_node(memory),
        "bull_speaks": lambda state: {"bull": speak("bull", state)},
        "bear_speaks": lambda state: {"bear": speak("bear", state)},
        "judge": judge,
        "record": record_node(memory, agent=AGENT),
    }
    before = START
    for name, node in nodes.items():
        graph.add_node(name, node)
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph.compile(name=AGENT)


graph = build(Memory.open())
