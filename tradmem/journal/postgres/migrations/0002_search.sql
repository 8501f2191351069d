-- Full text: every word that an entry ever held, stemmed, and no word left out as too common.
CREATE TEXT SEARCH DICTIONARY stems (TEMPLATE = snowball, LANGUAGE = english);
CREATE TEXT SEARCH CONFIGURATION words (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION words
    ALTER MAPPING FOR asciiword, word, numword WITH stems;

CREATE TABLE texts (
    ticker text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    date date NOT NULL,
    place bigint NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (ticker, id)
) PARTITION BY HASH (ticker);
CREATE INDEX texts_words ON texts USING gin (words);
CREATE INDEX texts_date ON texts (date DESC, place DESC);

DO $$
DECLARE
    many integer := (SELECT count(*) FROM pg_inherits WHERE inhparent = 'entries'::regclass);
BEGIN
    FOR number IN 0 .. many - 1 LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF texts FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
            'texts_' || number, many, number
        );
    END LOOP;
END $$;
