-- What each memory says, as a vector of one model or another. The numbers are plain ones, so
-- that no extension is needed to keep them; where pgvector is there, it ranks them.
CREATE TABLE vector_models (
    model text COLLATE "C" PRIMARY KEY,
    dimension integer NOT NULL CHECK (dimension > 0),
    -- Whatever changed before this transaction has its vector.
    done xid8 NOT NULL DEFAULT '0',
    UNIQUE (model, dimension)
);

CREATE TABLE vectors (
    ticker text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    dimension integer NOT NULL,
    digest bytea NOT NULL,
    since timestamptz NOT NULL,
    -- None where a text can have no vector, or the entry has no such text any more.
    numbers real[] CHECK (cardinality(numbers) = dimension),
    changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (ticker, id, model),
    FOREIGN KEY (model, dimension) REFERENCES vector_models (model, dimension)
) PARTITION BY HASH (ticker);
ALTER TABLE vectors ALTER COLUMN numbers SET STORAGE EXTERNAL;  -- nothing in them to compress
CREATE INDEX vectors_digest ON vectors (model, digest);
CREATE INDEX vectors_changed ON vectors (model, changed);

DO $$
DECLARE
    many integer := (SELECT count(*) FROM pg_inherits WHERE inhparent = 'entries'::regclass);
BEGIN
    FOR number IN 0 .. many - 1 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF vectors FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
            'vectors_' || number, many, number
        );
    END LOOP;
END $$;
