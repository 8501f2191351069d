"""langmem's own tools on a tradmem log."""

import json
import warnings

from tests.plugin.plugin_world import World
from tradmem.plugin.store import MemoryStore

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what it imports
    from langmem import create_manage_memory_tool, create_search_memory_tool


def test_its_tools_create_find_update_and_delete(tmp_path):
    world = World(tmp_path / "memory.md")
    store = MemoryStore(world.memory)
    manage = create_manage_memory_tool(namespace=("memories",), store=store)
    search = create_search_memory_tool(namespace=("memories",), store=store)

    def found(query):
        return [item["value"]["content"] for item in json.loads(search.invoke({"query": query}))]

    manage.invoke({"content": "The user prefers chips."})
    assert found("what does the user prefer?") == ["The user prefers chips."]
    (item,) = store.search(("memories",))
    manage.invoke({"action": "update", "id": item.key, "content": "The user prefers fabs."})
    assert found("prefers") == ["The user prefers fabs."]
    manage.invoke({"action": "delete", "id": item.key})
    assert found("prefers") == []
    text = (tmp_path / "memory.md").read_text()
    assert "The user prefers chips." in text
    assert "The user prefers fabs." in text
