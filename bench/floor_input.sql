-- What the floor writes, from what the product has written (`audit.WRITES`): message by message, in their order.

CREATE TEMPORARY VIEW PROC AS
SELECT (NEW ->> 'msg_id')::bigint AS MSG_ID, TX, NEW,
    row_number() OVER (PARTITION BY NEW ->> 'msg_id' ORDER BY SEQ) AS STEP,
    dense_rank() OVER (ORDER BY (NEW ->> 'msg_id')::bigint) AS N
FROM audit.WRITES WHERE TBL = 'proc_state' AND OP = 'UPDATE';

CREATE TEMPORARY TABLE APPLIED AS SELECT N, TX, MSG_ID, NEW FROM PROC WHERE STEP = 2;
CREATE UNIQUE INDEX ON APPLIED (TX);

INSERT INTO floor.FLIGHT
SELECT A.N, R.* FROM audit.WRITES W JOIN APPLIED A USING (TX)
CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.FLIGHT_SCHD, W.NEW) AS R
WHERE W.TBL = 'flight_schd';

DO $$
DECLARE
    v_table text;
BEGIN
    FOR v_table IN SELECT TBL FROM floor.DETAIL LOOP
        EXECUTE format(
            'INSERT INTO floor.%1$I SELECT A.N, W.OP = ''DELETE'', R.*
            FROM audit.WRITES W JOIN APPLIED A USING (TX)
            CROSS JOIN LATERAL jsonb_populate_record(NULL::msgx.%1$I, COALESCE(W.NEW, W.OLD)) AS R
            WHERE W.TBL = %1$L ORDER BY W.SEQ', v_table);
    END LOOP;
END
$$;

-- The text of an event is taken from its row: a jsonb would not be the text that was written.
INSERT INTO floor.MESSAGE
SELECT A.N, A.MSG_ID, (A.NEW ->> 'epoch')::bigint, A.NEW ->> 'identity_key', A.NEW ->> 'sndr', A.NEW ->> 'type',
    A.NEW ->> 'styp', A.NEW ->> 'seqn', A.NEW ->> 'dttm', A.NEW ->> 'raw_digest', A.NEW ->> 'coverage',
    E.FLID, E.STATE_VERSION, (S.NEW ->> 'seqn')::bigint,
    ARRAY(SELECT DISTINCT D.TBL FROM audit.WRITES W JOIN floor.DETAIL D USING (TBL) WHERE W.TX = A.TX),
    ARRAY(SELECT DISTINCT D.TBL FROM audit.WRITES W JOIN floor.DETAIL D USING (TBL)
        WHERE W.TX = A.TX AND W.OP = 'DELETE'),
    E.PAYLOAD, P.PAYLOAD
FROM APPLIED A
JOIN msgx.MSG_EVENT E ON E.MSG_ID = A.MSG_ID AND E.TARGET = 'KAFKA:msg'
JOIN audit.PAYLOADS P ON P.TX = A.TX
JOIN audit.WRITES S ON S.TX = A.TX AND S.TBL = 'sender_mark';
