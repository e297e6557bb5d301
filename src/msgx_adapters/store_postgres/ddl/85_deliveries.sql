-- Write-back intents and deliveries of events; each function is one transaction and one round trip.

-- A dead or discarded event lets the next one of its flight go; one that waits does not (D-28).
CREATE FUNCTION msgx.DUE_EVENTS(p_target text, p_now timestamptz, p_limit bigint) RETURNS SETOF msgx.MSG_EVENT
LANGUAGE plpgsql STABLE {{plans}} AS $$
BEGIN
    IF p_target = 'KAFKA:schd' THEN
        RETURN QUERY SELECT * FROM msgx.MSG_EVENT
        WHERE TARGET = 'KAFKA:schd' AND STATUS = 'PENDING' AND (NEXT_ATTEMPT_AT IS NULL OR NEXT_ATTEMPT_AT <= p_now)
        ORDER BY EVENT_ID LIMIT p_limit;
    ELSE
        RETURN QUERY SELECT * FROM msgx.MSG_EVENT E
        WHERE E.TARGET = 'KAFKA:msg' AND E.STATUS = 'PENDING'
            AND (E.NEXT_ATTEMPT_AT IS NULL OR E.NEXT_ATTEMPT_AT <= p_now)
            AND E.EVENT_ID = (
                SELECT MIN(O.EVENT_ID) FROM msgx.MSG_EVENT O
                WHERE O.TARGET = 'KAFKA:msg' AND O.STATUS = 'PENDING' AND O.FLID = E.FLID
            )
        ORDER BY E.EVENT_ID LIMIT p_limit;
    END IF;
END
$$;

-- Predicate R-137, order R-140.
CREATE FUNCTION msgx.CLAIM_WRITEBACKS(
    p_epoch bigint, p_now timestamptz, p_overdue_before timestamptz, p_limit bigint, p_claim_until timestamptz
) RETURNS TABLE (MSG_ID bigint, BACKFILL_ATTEMPTS integer, FINISHED_AT timestamptz, ENQUEUED_AT timestamptz)
LANGUAGE plpgsql {{plans}} AS $$
#variable_conflict use_column
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    RETURN QUERY UPDATE msgx.PROC_STATE P SET BACKFILL_CLAIM_UNTIL = p_claim_until, EPOCH = p_epoch
    WHERE P.MSG_ID = ANY (ARRAY(
        SELECT D.MSG_ID FROM msgx.PROC_STATE D
        WHERE D.STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD')
            AND D.BACKFILL_AT IS NULL AND D.BACKFILL_ABANDONED_AT IS NULL
            AND (D.BACKFILL_NEXT_AT IS NULL OR D.BACKFILL_NEXT_AT <= p_now OR D.ENQUEUED_AT < p_overdue_before)
            AND (D.BACKFILL_CLAIM_UNTIL IS NULL OR D.BACKFILL_CLAIM_UNTIL <= p_now)
        ORDER BY D.BACKFILL_ATTEMPTS, D.MSG_ID LIMIT p_limit
        FOR UPDATE
    ))
    RETURNING P.MSG_ID, P.BACKFILL_ATTEMPTS, P.FINISHED_AT, P.ENQUEUED_AT;
END
$$;

CREATE FUNCTION msgx.WRITEBACKS_DONE(p_epoch bigint, p_ids bigint[], p_now timestamptz) RETURNS void
LANGUAGE plpgsql {{plans}} AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    UPDATE msgx.PROC_STATE SET BACKFILL_AT = p_now, BACKFILL_NEXT_AT = NULL, BACKFILL_CLAIM_UNTIL = NULL,
        UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE MSG_ID = ANY (p_ids) AND STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND BACKFILL_AT IS NULL;
END
$$;

CREATE FUNCTION msgx.WRITEBACK_RETRY(
    p_epoch bigint, p_msg_id bigint, p_next_at timestamptz, p_alerts jsonb, p_now timestamptz
) RETURNS void LANGUAGE plpgsql {{plans}} AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    UPDATE msgx.PROC_STATE SET BACKFILL_ATTEMPTS = BACKFILL_ATTEMPTS + 1, BACKFILL_NEXT_AT = p_next_at,
        BACKFILL_CLAIM_UNTIL = NULL, UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE MSG_ID = p_msg_id AND STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND BACKFILL_AT IS NULL;
    IF FOUND THEN
        PERFORM msgx.INSERT_ALERTS(p_alerts, p_now);
    END IF;
END
$$;

CREATE FUNCTION msgx.WRITEBACK_ABANDON(
    p_epoch bigint, p_msg_id bigint, p_reason text, p_alerts jsonb, p_now timestamptz
) RETURNS void LANGUAGE plpgsql {{plans}} AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    UPDATE msgx.PROC_STATE SET BACKFILL_ABANDONED_AT = p_now, BACKFILL_ABANDONED_REASON = p_reason,
        BACKFILL_NEXT_AT = NULL, BACKFILL_CLAIM_UNTIL = NULL, UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE MSG_ID = p_msg_id AND STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND BACKFILL_AT IS NULL;
    IF FOUND THEN
        PERFORM msgx.INSERT_ALERTS(p_alerts, p_now);
    END IF;
END
$$;

CREATE FUNCTION msgx.RELEASE_CLAIMS(p_epoch bigint, p_ids bigint[]) RETURNS void LANGUAGE plpgsql {{plans}} AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    UPDATE msgx.PROC_STATE SET BACKFILL_CLAIM_UNTIL = NULL, EPOCH = p_epoch
    WHERE MSG_ID = ANY (p_ids) AND STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND BACKFILL_AT IS NULL;
END
$$;

-- Each only where id, flight and version still are those (R-359). An alert about a flight whose event has been
-- replaced meanwhile is not raised.
CREATE FUNCTION msgx.SETTLE_EVENTS(p_epoch bigint, p_events jsonb, p_alerts jsonb, p_now timestamptz)
RETURNS void LANGUAGE plpgsql {{plans}} AS $$
DECLARE
    v_overtaken bigint[];
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    WITH S AS (
        SELECT * FROM jsonb_to_recordset(p_events) AS R (id bigint, target text, flid bigint, version bigint,
            status text, attempts integer, next_at timestamptz, code text)
    ), U AS (
        UPDATE msgx.MSG_EVENT E SET STATUS = S.status, ATTEMPTS = S.attempts, NEXT_ATTEMPT_AT = S.next_at,
            LAST_CODE = S.code, SENT_AT = CASE WHEN S.status = 'SENT' THEN p_now END, UPDATED_AT = p_now,
            EPOCH = p_epoch
        FROM S
        WHERE E.EVENT_ID = S.id AND E.TARGET = S.target AND E.FLID = S.flid AND E.STATE_VERSION = S.version
            AND E.STATUS = 'PENDING'
        RETURNING S.id, S.target
    )
    SELECT array_agg(S.flid) INTO v_overtaken FROM S
    WHERE NOT EXISTS (SELECT 1 FROM U WHERE U.id = S.id AND U.target = S.target);
    PERFORM msgx.INSERT_ALERTS(jsonb_agg(A.alert ORDER BY A.n), p_now)
    FROM jsonb_array_elements(p_alerts) WITH ORDINALITY AS A (alert, n)
    WHERE COALESCE((A.alert ->> 'flid')::bigint <> ALL (v_overtaken), TRUE)
    HAVING COUNT(*) > 0;
END
$$;
