-- Writes down each row that anybody writes in the schema msgx: which transaction, which table, the row before and
-- after. So the floor is made from what the product really writes, and both are compared row by row.

CREATE SCHEMA audit;

CREATE TABLE audit.WRITES (
    SEQ bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    TX bigint NOT NULL DEFAULT txid_current(),
    TBL text NOT NULL,
    OP text NOT NULL,
    OLD jsonb,
    NEW jsonb
);

-- The text of each full state: its row keeps only the last one, and a jsonb is another text.
CREATE TABLE audit.PAYLOADS (
    TX bigint NOT NULL DEFAULT txid_current() PRIMARY KEY,
    PAYLOAD json NOT NULL
);

CREATE FUNCTION audit.KEEP_PAYLOAD() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit.PAYLOADS (PAYLOAD) VALUES (NEW.PAYLOAD) ON CONFLICT (TX) DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER zz_payload AFTER INSERT OR UPDATE ON msgx.MSG_EVENT FOR EACH ROW
    WHEN (NEW.TARGET = 'KAFKA:schd') EXECUTE FUNCTION audit.KEEP_PAYLOAD();

CREATE FUNCTION audit.NOTE() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit.WRITES (TBL, OP, OLD, NEW) VALUES (
        TG_TABLE_NAME, TG_OP, CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END,
        CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END
    );
    RETURN NULL;
END
$$;

DO $$
DECLARE
    v_table name;
BEGIN
    FOR v_table IN SELECT relname FROM pg_class WHERE relnamespace = 'msgx'::regnamespace AND relkind = 'r'
    LOOP
        EXECUTE format(
            'CREATE TRIGGER zz_audit AFTER INSERT OR UPDATE OR DELETE ON msgx.%I'
            ' FOR EACH ROW EXECUTE FUNCTION audit.NOTE()', v_table
        );
    END LOOP;
END
$$;
