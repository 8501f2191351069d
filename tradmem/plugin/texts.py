"""What a model is told: when to use a tool, and how to go on after a failure."""

ADD = (
    "Store at once, and without being asked, whatever you learn or conclude that fits this "
    "memory's scope: {scope}. One self-contained statement per call, in words that will still be "
    "understood in a year. Write dates in full (2026-01-05), never 'today' or 'last week'. It is "
    "stored for good when the call answers; the time is noted by the memory itself."
)
QUERY_FIRST = (
    "Look here first, before you ask the user and before you say that you do not know, whenever "
    "the matter may fall into this memory's scope: {scope}. Finds earlier decisions with what "
    "became of them, their lessons, and notes, the most relevant first."
)
RECORD = (
    "Record the decision that you have come to on a ticker, once it stands, so that it can be "
    "judged and learnt from later. Scope: {scope}. It is stored for good when the call answers, "
    "dated by the memory's own clock."
)
RECALL = (
    "Call this before you decide on a ticker: the newest lessons on it and on others, with the "
    "record of earlier calls. Scope: {scope}."
)
PENDING = "Lists the decisions whose outcome is not known yet, and when it is due. Scope: {scope}."
TRACK = (
    "Tells how often earlier decisions were right, overall or on one ticker, and how sure that "
    "is. Scope: {scope}."
)

REFUSED = (
    "This call did nothing: {error}. Mend the arguments and call again, or go on without the "
    "memory."
)
FAILED = (
    "The memory cannot be used at the moment; nothing was stored or found. Go on without it, and "
    "do not wait for it. The failure is logged."
)
NO_ARGUMENTS = "the arguments are no JSON object"
NOT_FOUND = "Nothing is found in this memory{about}. Say so where it matters, or ask the user."
STORED = "Stored as {id} on {date}{about}."
KNOWN = "This is known already{about}, as {id} of {date}; nothing was added."
DECIDED = "Recorded as {id}: {rating} on {ticker}, {date}."
DECIDED_BEFORE = (
    "{ticker} was decided on {date} before, otherwise; that first decision stands, as {id} "
    "({rating})."
)
NONE_PENDING = "No decision{about} is waiting for its outcome."
NO_TRACK = "No decision{about} has been judged yet."

PROMPT = (
    "Decide on {ticker}. Weigh what you know of it and the records below, which this memory "
    "holds of earlier decisions and of what became of them.\n\n{context}\n\nGive one of the five "
    "ratings Buy, Overweight, Hold, Underweight or Sell with your reasons, the first line being "
    "'**Rating**: ...', then call {record} with it."
)
PROMPT_READ = (
    "Decide on {ticker}. Weigh what you know of it and the records below, which this memory "
    "holds of earlier decisions and of what became of them.\n\n{context}\n\nGive one of the five "
    "ratings Buy, Overweight, Hold, Underweight or Sell with your reasons, the first line being "
    "'**Rating**: ...'."
)
NO_CONTEXT = "(No records yet.)"
