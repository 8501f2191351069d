-- A partition is emptied by name only if it is meant: a trigger on the whole does not stand there.
DO $$
DECLARE
    part record;
BEGIN
    FOR part IN
        SELECT inhrelid::regclass AS name FROM pg_inherits
        WHERE inhparent IN ('entries'::regclass, 'additions'::regclass)
    LOOP
        EXECUTE format(
            'CREATE TRIGGER stays BEFORE TRUNCATE ON %s '
            'FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', part.name
        );
    END LOOP;
END $$;
