-- What is recorded and what is added: these two tables only ever grow.
CREATE SEQUENCE entry_order;
CREATE SEQUENCE addition_order;

CREATE TABLE entries (
    ticker text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    place bigint NOT NULL DEFAULT nextval('entry_order'),
    date date NOT NULL,
    agent text COLLATE "C" NOT NULL,
    revision integer NOT NULL,
    is_note boolean NOT NULL,
    rating text,
    text text NOT NULL,
    identity json NOT NULL,
    edited text[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (ticker, id)
) PARTITION BY HASH (ticker);

-- One decision for a date, ticker, agent and revision; a note is its own key.
CREATE UNIQUE INDEX entries_key ON entries (
    ticker, date, agent, revision,
    (CASE WHEN is_note OR edited <> '{}' THEN id ELSE '' END)
);

CREATE TABLE additions (
    ticker text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    place bigint NOT NULL DEFAULT nextval('addition_order'),
    kind text NOT NULL,
    line json NOT NULL,
    text text NOT NULL DEFAULT '',
    PRIMARY KEY (ticker, id, digest),
    FOREIGN KEY (ticker, id) REFERENCES entries
) PARTITION BY HASH (ticker);

-- Which ticker an id belongs to, so that one id stands once over all partitions.
CREATE TABLE ids (
    id text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[0-9a-f]{12}$'),
    ticker text COLLATE "C" NOT NULL,
    -- Whether the tables below have the entry yet: a new decision teaches nothing, and waits
    -- until somebody asks for what is pending, due or changed.
    filed boolean NOT NULL DEFAULT true
) PARTITION BY HASH (id);
CREATE INDEX ids_unfiled ON ids (ticker, id) WHERE NOT filed;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% only ever grows; undo with one more addition', TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER grows BEFORE UPDATE OR DELETE ON entries
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER grows BEFORE UPDATE OR DELETE ON additions
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER stays BEFORE TRUNCATE ON additions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- From here on everything follows from the two, and can be made anew from them.
CREATE TABLE states (
    ticker text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    date date NOT NULL,
    status text NOT NULL,
    replaced boolean NOT NULL DEFAULT false,
    archived boolean NOT NULL DEFAULT false,
    horizons integer[] NOT NULL DEFAULT '{}',
    changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (ticker, id)
) PARTITION BY HASH (ticker);
CREATE INDEX states_unfinished ON states (ticker, place)
    WHERE status IN ('pending', 'settled') AND NOT replaced AND NOT archived;
CREATE INDEX states_changed ON states (changed);
CREATE INDEX states_date ON states (date, place);

-- What an entry taught, from an instant until another: what a recall as of any instant reads.
CREATE TABLE memories (
    ticker text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL DEFAULT 'infinity',
    known_at timestamptz NOT NULL,
    date date NOT NULL,
    has_lesson boolean NOT NULL,
    hidden boolean NOT NULL,
    archived boolean NOT NULL DEFAULT false,
    PRIMARY KEY (ticker, id, since)
) PARTITION BY HASH (ticker);
CREATE INDEX memories_recall ON memories (ticker, known_at DESC, date DESC, id DESC)
    WHERE NOT archived;
CREATE INDEX memories_recall_archived ON memories (ticker, known_at DESC, date DESC, id DESC)
    WHERE archived;
CREATE INDEX memories_lessons ON memories (known_at DESC, date DESC, id DESC)
    WHERE NOT archived AND has_lesson AND NOT hidden;
CREATE INDEX memories_lessons_archived ON memories (known_at DESC, date DESC, id DESC)
    WHERE archived AND has_lesson AND NOT hidden;

-- From an instant on, one verdict more (or less, where something took it back).
CREATE TABLE verdicts (
    ticker text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    known_at timestamptz NOT NULL,
    change smallint NOT NULL,
    horizon integer NOT NULL,
    entry integer NOT NULL,
    span integer NOT NULL,
    cell smallint NOT NULL,
    is_raw boolean NOT NULL,
    is_primary boolean NOT NULL
) PARTITION BY HASH (ticker);
CREATE INDEX verdicts_known ON verdicts (ticker, known_at)
    INCLUDE (change, horizon, entry, span, cell, is_raw, is_primary);
CREATE INDEX verdicts_id ON verdicts (ticker, id);

-- By the hash of a lesson, the entry that said it first.
CREATE TABLE lessons (
    hash text COLLATE "C" PRIMARY KEY,
    id text COLLATE "C" NOT NULL
) PARTITION BY HASH (hash);

-- The work queue: what is unfinished, when asking can help, and who is at it.
CREATE TABLE claims (
    ticker text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    due timestamptz NOT NULL,
    holder text COLLATE "C" NOT NULL DEFAULT '',
    leased_until timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (ticker, id)
) PARTITION BY HASH (ticker) ;
CREATE INDEX claims_due ON claims (due);

DO $$
DECLARE
    many integer := current_setting('tradmem.partitions')::integer;
    parent text;
    options text;
BEGIN
    FOREACH parent IN ARRAY ARRAY['entries', 'additions', 'ids', 'states', 'memories',
                                  'verdicts', 'lessons', 'claims'] LOOP
        options := CASE WHEN parent IN ('states', 'claims') THEN ' WITH (fillfactor = 80)' ELSE '' END;
        FOR number IN 0 .. many - 1 LOOP
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)%s',
                parent || '_' || number, parent, many, number, options
            );
        END LOOP;
    END LOOP;
END $$;
