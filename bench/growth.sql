-- What a store has after months: finished messages, sent events, flights. `:…` are numbers of rows. Ids below 0,
-- so that none meets one of the day.

INSERT INTO msgx.PROC_STATE (MSG_ID, STATE, IDENTITY_KEY, SNDR, TYPE, STYP, SEQN, DTTM, RAW_DIGEST, RECEIVED_AT,
    ENQUEUED_AT, APPLIED_AT, APPLY_NO, COVERAGE, TOUCHED, FINISHED_AT, BACKFILL_AT, EPOCH, UPDATED_AT)
SELECT -N, 'SUCCEEDED', format('AODB|FLOP|GTDT|-%s', N), 'AODB', 'FLOP', 'GTDT', N::text, '20270101000000',
    md5(N::text) || md5((-N)::text), now(), now(), now(), -N, P.COVERAGE, ARRAY[1000000000 + N % :flights], now(),
    now(), 1, now()
FROM generate_series(1, :processed) AS N
CROSS JOIN (SELECT COVERAGE FROM msgx.PROC_STATE WHERE COVERAGE IS NOT NULL LIMIT 1) P;

CREATE TEMPORARY TABLE SOURCE AS
SELECT FLID, row_number() OVER (ORDER BY FLID) - 1 AS PLACE, count(*) OVER () AS MANY
FROM msgx.FLIGHT_SCHD WHERE STATE = 'ACTIVE' AND MAID IS NULL;
CREATE TEMPORARY TABLE COPIES AS
SELECT 1000000000 + K AS FLID, S.FLID AS OF FROM generate_series(0, :flights - 1) AS K
JOIN SOURCE S ON S.PLACE = K % S.MANY;
CREATE INDEX ON COPIES (OF);

DO $$
DECLARE
    v_table name;
    v_names text;
BEGIN
    FOR v_table IN SELECT relname FROM pg_class WHERE relnamespace = 'msgx'::regnamespace AND relkind = 'r'
        AND (relname = 'flight_schd' OR relname LIKE 'flight\_%' AND EXISTS (
            SELECT 1 FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'ordinal'
        ))
    LOOP
        SELECT string_agg('D.' || quote_ident(attname), ', ' ORDER BY attnum) INTO v_names FROM pg_attribute
        WHERE attrelid = format('msgx.%I', v_table)::regclass AND attnum > 0 AND NOT attisdropped
            AND attname <> 'flid';
        EXECUTE format('INSERT INTO msgx.%1$I (FLID, %2$s) SELECT C.FLID, %3$s FROM msgx.%1$I D
            JOIN COPIES C ON C.OF = D.FLID', v_table, replace(v_names, 'D.', ''), v_names);
    END LOOP;
END
$$;

INSERT INTO msgx.MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, SENT_AT, CREATED_AT, UPDATED_AT,
    EPOCH, PAYLOAD)
SELECT -row_number() OVER (), 'KAFKA:schd', C.FLID, E.STATE_VERSION, E.MSG_ID, 'SENT', now(), now(), now(), 1, E.PAYLOAD
FROM COPIES C JOIN msgx.MSG_EVENT E ON E.FLID = C.OF AND E.TARGET = 'KAFKA:schd';

INSERT INTO msgx.MSG_EVENT (EVENT_ID, TARGET, FLID, STATE_VERSION, MSG_ID, STATUS, SENT_AT, CREATED_AT, UPDATED_AT,
    EPOCH, PAYLOAD)
SELECT -N, 'KAFKA:msg', 1000000000 + N % :flights, N, -N, 'SENT', now(), now(), now(), 1, E.PAYLOAD
FROM generate_series(1, :events - :flights) AS N
CROSS JOIN (SELECT PAYLOAD FROM msgx.MSG_EVENT WHERE TARGET = 'KAFKA:msg' LIMIT 1) E;
