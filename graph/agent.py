"""The deployable application: the reference agent on the log that ``TRADMEM_LOG`` names.

A server loads this file by its path and brings its own checkpointer and store.
"""

from tradmem.agent import build_graph
from tradmem.memory import Memory

graph = build_graph(Memory.open())
