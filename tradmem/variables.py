"""The names of the model's settings: in the environment, and in the settings file."""

from collections.abc import Mapping

# By setting, the variables that hold it; the first that is set counts.
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "model": ("TRADMEM_MODEL", "OPENAI_MODEL"),
    "base_url": ("TRADMEM_BASE_URL", "OPENAI_BASE_URL"),
    "api_key": ("TRADMEM_API_KEY", "OPENAI_API_KEY"),
    "timeout": ("TRADMEM_MODEL_TIMEOUT",),
    "retries": ("TRADMEM_MODEL_RETRIES",),
    "concurrency": ("TRADMEM_MODEL_CONCURRENCY",),
    "cutoff": ("TRADMEM_MODEL_CUTOFF",),
    "prices": ("TRADMEM_MODEL_PRICES",),
    "max_cost": ("TRADMEM_MODEL_MAX_COST",),
}
# The variable under which a provider's own documentation puts its key; before OpenAI's there.
HOST_KEYS: Mapping[str, str] = {
    "openrouter.ai": "OPENROUTER_API_KEY",
    "deepseek.com": "DEEPSEEK_API_KEY",
    "groq.com": "GROQ_API_KEY",
    "mistral.ai": "MISTRAL_API_KEY",
    "together.xyz": "TOGETHER_API_KEY",
    "x.ai": "XAI_API_KEY",
    "googleapis.com": "GEMINI_API_KEY",
}
SECTION = "model"  # the table of the settings file
# By setting, its key there.
KEYS: Mapping[str, str] = {name: "name" if name == "model" else name for name in VARIABLES}
EMBEDDING = "TRADMEM_EMBEDDING_MODEL"
