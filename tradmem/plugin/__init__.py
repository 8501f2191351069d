"""The memory as tools, as an MCP server, as a LangGraph store, and for TradingAgents."""
