-- The floor: what a message FLOP costs PostgreSQL when nobody has to think. FROZEN: it is not tuned along with
-- the product, and changes only when the rows that a FLOP leaves change (`make bench` proves row by row that both
-- leave the same ones, and writes the same number of times).
--
-- Three functions, three durable commits: bind, apply (1), finish (3). What is to be written is known before and
-- lies in the tables of the schema floor, by the number of the message; here it is only written, each row once,
-- by its key, with the row of the pipeline locked as D-34 asks of each of the three. pgbench calls them.

CREATE SCHEMA floor;

CREATE UNLOGGED TABLE floor.MESSAGE (
    N bigint NOT NULL PRIMARY KEY,
    MSG_ID bigint NOT NULL,
    EPOCH bigint NOT NULL,
    IDENTITY_KEY text NOT NULL,
    SNDR text NOT NULL,
    TYPE text NOT NULL,
    STYP text NOT NULL,
    SEQN text NOT NULL,
    DTTM text NOT NULL,
    RAW_DIGEST text NOT NULL,
    COVERAGE text,
    FLID bigint NOT NULL,
    STATE_VERSION bigint NOT NULL,
    LAST_SEQN bigint NOT NULL,
    -- Tables of details that change, and those of them that lose rows.
    CHANGED text[] NOT NULL,
    SHRUNK text[] NOT NULL,
    NOTICE json NOT NULL,
    DOCUMENT json NOT NULL
) WITH (toast_tuple_target = 8160);
-- As it comes from a client: not compressed.
ALTER TABLE floor.MESSAGE ALTER NOTICE SET STORAGE MAIN, ALTER DOCUMENT SET STORAGE MAIN;

CREATE UNLOGGED TABLE floor.FLIGHT AS SELECT 0::bigint AS N, F.* FROM msgx.FLIGHT_SCHD F WITH NO DATA;
ALTER TABLE floor.FLIGHT ADD PRIMARY KEY (N);

-- Tables of details: FLID and ORDINAL are in their keys.
CREATE VIEW floor.DETAIL AS
SELECT C.relname::text AS TBL, (
        SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = C.oid AND attnum > 0 AND NOT attisdropped
    ) AS NAMES, (
        SELECT string_agg(format('%1$I = EXCLUDED.%1$I', attname), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = C.oid AND attnum > 0 AND NOT attisdropped AND attnum <> ALL (I.indkey)
    ) AS SETS, (
        SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
        WHERE attrelid = C.oid AND attnum = ANY (I.indkey)
    ) AS KEYS, (
        SELECT string_agg(format('D.%1$I = I.%1$I', attname), ' AND ') FROM pg_attribute
        WHERE attrelid = C.oid AND attnum = ANY (I.indkey)
    ) AS SAME
FROM pg_class C JOIN pg_index I ON I.indrelid = C.oid AND I.indisprimary
WHERE C.relnamespace = 'msgx'::regnamespace AND EXISTS (
    SELECT 1 FROM pg_attribute WHERE attrelid = C.oid AND attname = 'ordinal' AND attnum = ANY (I.indkey)
) AND EXISTS (
    SELECT 1 FROM pg_attribute WHERE attrelid = C.oid AND attname = 'flid' AND attnum = ANY (I.indkey)
);

DO $$
DECLARE
    v_detail floor.DETAIL;
BEGIN
    FOR v_detail IN SELECT * FROM floor.DETAIL LOOP
        EXECUTE format('CREATE UNLOGGED TABLE floor.%1$I AS SELECT 0::bigint AS N, false AS GONE, D.* FROM msgx.%1$I D
            WITH NO DATA', v_detail.TBL);
        EXECUTE format('CREATE INDEX ON floor.%I (N)', v_detail.TBL);
    END LOOP;
END
$$;

CREATE FUNCTION floor.BIND(p_n bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v floor.MESSAGE;
BEGIN
    SELECT * INTO v FROM floor.MESSAGE WHERE N = p_n;
    PERFORM 1 FROM msgx.PIPELINE_LOCK WHERE EPOCH = v.EPOCH FOR UPDATE;
    UPDATE msgx.PROC_STATE SET IDENTITY_KEY = v.IDENTITY_KEY, SNDR = v.SNDR, TYPE = v.TYPE, STYP = v.STYP,
        SEQN = v.SEQN, DTTM = v.DTTM, RAW_DIGEST = v.RAW_DIGEST, UPDATED_AT = now(), EPOCH = v.EPOCH
    WHERE MSG_ID = v.MSG_ID;
END
$$;

CREATE FUNCTION floor.FINISH(p_n bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v floor.MESSAGE;
BEGIN
    SELECT * INTO v FROM floor.MESSAGE WHERE N = p_n;
    PERFORM 1 FROM msgx.PIPELINE_LOCK WHERE EPOCH = v.EPOCH FOR UPDATE;
    UPDATE msgx.PROC_STATE SET STATE = 'SUCCEEDED', FINISHED_AT = now(), BACKFILL_NEXT_AT = now(),
        UPDATED_AT = now(), EPOCH = v.EPOCH
    WHERE MSG_ID = v.MSG_ID;
END
$$;

-- The columns of a flight and the tables of details follow the tag tables, so this text is put together here.
DO $make$
DECLARE
    v_sets text;
    v_details text;
BEGIN
    SELECT string_agg(format('%1$I = v_flight.%1$I', attname), ', ' ORDER BY attnum) INTO v_sets
    FROM pg_attribute
    WHERE attrelid = 'msgx.FLIGHT_SCHD'::regclass AND attnum > 0 AND NOT attisdropped
        AND attname NOT IN ('flid', 'created_at', 'updated_at');
    SELECT string_agg(format(
        'IF %1$L = ANY (v.CHANGED) THEN
            IF %1$L = ANY (v.SHRUNK) THEN
                DELETE FROM msgx.%1$I D USING floor.%1$I I WHERE I.N = p_n AND I.GONE AND %5$s;
            END IF;
            INSERT INTO msgx.%1$I (%2$s) SELECT %2$s FROM floor.%1$I WHERE N = p_n AND NOT GONE
            ON CONFLICT (%4$s) DO UPDATE SET %3$s;
        END IF;', TBL, NAMES, SETS, KEYS, SAME), E'\n        ') INTO v_details
    FROM floor.DETAIL;
    EXECUTE format($text$
        CREATE FUNCTION floor.APPLY(p_n bigint) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
            v floor.MESSAGE;
            v_flight floor.FLIGHT;
            v_apply_no bigint;
            v_msg bigint;
            v_schd bigint;
        BEGIN
            SELECT * INTO v FROM floor.MESSAGE WHERE N = p_n;
            SELECT * INTO v_flight FROM floor.FLIGHT WHERE N = p_n;
            PERFORM 1 FROM msgx.PIPELINE_LOCK WHERE EPOCH = v.EPOCH FOR UPDATE;
            UPDATE msgx.COUNTERS SET VALUE = VALUE + 1 WHERE NAME = 'apply_no' RETURNING VALUE INTO v_apply_no;
            UPDATE msgx.COUNTERS SET VALUE = VALUE + 1 WHERE NAME = 'event_msg' RETURNING VALUE INTO v_msg;
            UPDATE msgx.COUNTERS SET VALUE = VALUE + 1 WHERE NAME = 'event_schd' RETURNING VALUE INTO v_schd;
            UPDATE msgx.PROC_STATE SET APPLIED_AT = now(), APPLY_NO = v_apply_no, COVERAGE = v.COVERAGE,
                TOUCHED = ARRAY[v.FLID], UPDATED_AT = now(), EPOCH = v.EPOCH
            WHERE MSG_ID = v.MSG_ID;
            UPDATE msgx.FLIGHT_SCHD SET UPDATED_AT = now(), %1$s WHERE FLID = v.FLID;
            %2$s
            INSERT INTO msgx.MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, CREATED_AT,
                UPDATED_AT, EPOCH, PAYLOAD)
            VALUES (v_msg, 'KAFKA:msg', v.FLID, v.STATE_VERSION, v.MSG_ID, 'PENDING', now(), now(), v.EPOCH,
                v.NOTICE);
            UPDATE msgx.MSG_EVENT SET EVENT_ID = v_schd, STATE_VERSION = v.STATE_VERSION, MSG_ID = v.MSG_ID,
                STATUS = 'PENDING', ATTEMPTS = 0, NEXT_ATTEMPT_AT = NULL, LAST_CODE = NULL, SENT_AT = NULL,
                CREATED_AT = now(), UPDATED_AT = now(), EPOCH = v.EPOCH, PAYLOAD = v.DOCUMENT
            WHERE TARGET = 'KAFKA:schd' AND FLID = v.FLID;
            UPDATE msgx.SENDER_MARK SET SEQN = v.LAST_SEQN, DTTM = v.DTTM, UPDATED_AT = now() WHERE SNDR = v.SNDR;
            UPDATE msgx.LEASE SET EXPIRES_AT = clock_timestamp() + interval '3 seconds';
        END
        $$
    $text$, v_sets, v_details);
END
$make$;
