-- Removal by age, where one statement is not enough (FST §8.3).

-- Days of the ledger before the cut-off, and why each stays: the first reason that holds, or 'go'.
CREATE FUNCTION msgx.LEDGER_DAYS(p_cutoff date, p_late_since timestamptz)
RETURNS TABLE (OPERATION_DAY date, REASON text) LANGUAGE sql STABLE AS $$
    SELECT G.OPERATION_DAY, CASE
        WHEN EXISTS (SELECT 1 FROM msgx.PROC_STATE P WHERE P.STATE IN ('PENDING', 'FAILED')) THEN 'unfinished'
        WHEN EXISTS (
            SELECT 1 FROM msgx.PROC_STATE P WHERE P.BACKFILL_AT IS NULL AND (
                P.MSG_ID = G.LAST_MSG_ID OR P.MSG_ID IN (
                    SELECT L.MSG_ID FROM msgx.SCHD_SNAP_LOG L WHERE L.OPERATION_DAY = G.OPERATION_DAY
                )
            )
        ) THEN 'not-written-back'
        WHEN EXISTS (SELECT 1 FROM msgx.FLIGHT_SCHD F WHERE F.OPERATION_DAY = G.OPERATION_DAY) OR EXISTS (
            SELECT 1 FROM msgx.SCHD_GEN_FLID R JOIN msgx.FLIGHT_SCHD F ON F.FLID = R.FLID
            WHERE R.OPERATION_DAY = G.OPERATION_DAY
        ) THEN 'flights'
        WHEN EXISTS (
            SELECT 1 FROM msgx.REQ_TRACK Q
            WHERE G.OPERATION_DAY BETWEEN Q.FIRST_DAY AND Q.LAST_DAY AND (
                Q.STATE IN ('PENDING', 'SENT')
                OR (Q.STATE = 'EXPIRED' AND Q.RESP_MSG_ID IS NULL AND Q.CLOSED_AT >= p_late_since)
            )
        ) THEN 'requests'
        ELSE 'go' END
    FROM msgx.SCHD_GEN G WHERE G.OPERATION_DAY < p_cutoff ORDER BY G.OPERATION_DAY
$$;

-- Beside no step 1, which would change what is looked at: the lock is held for these few days only.
CREATE FUNCTION msgx.REMOVE_LEDGER(p_cutoff date, p_late_since timestamptz, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_days date[];
BEGIN
    PERFORM 1 FROM msgx.PIPELINE_LOCK FOR SHARE;
    v_days := ARRAY(
        SELECT L.OPERATION_DAY FROM msgx.LEDGER_DAYS(p_cutoff, p_late_since) L WHERE L.REASON = 'go' LIMIT p_limit
    );
    DELETE FROM msgx.SCHD_GEN_FLID WHERE OPERATION_DAY = ANY (v_days);
    DELETE FROM msgx.SCHD_GEN WHERE OPERATION_DAY = ANY (v_days);
    RETURN cardinality(v_days);
END
$$;
