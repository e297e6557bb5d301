-- What people may change: one condition each, with an audit row (D-34). They carry no epoch. REFUSED says why not.

CREATE FUNCTION msgx.AUDIT(
    p_action text, p_target bigint, p_actor text, p_why text, p_detail text, p_now timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO msgx.OPS_AUDIT (ACTION, TARGET, ACTOR, REASON, DETAIL, CREATED_AT)
    VALUES (p_action, p_target, p_actor, p_why, p_detail, p_now);
END
$$;

-- Identity, APPLIED_AT with what belongs to it, and BACKFILL_AT stay (H-25).
CREATE FUNCTION msgx.BACK_TO_PENDING(p_msg_id bigint, p_identity_key text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE msgx.PROC_STATE SET STATE = 'PENDING', IDENTITY_KEY = COALESCE(IDENTITY_KEY, p_identity_key),
        ATTEMPTS = 0, NEXT_ATTEMPT_AT = NULL, ERROR_CODE = NULL, REASON = NULL, DETAIL = NULL, TRYING = FALSE,
        FINISHED_AT = NULL, BACKFILL_NEXT_AT = NULL, BACKFILL_ATTEMPTS = 0, BACKFILL_ABANDONED_AT = NULL,
        BACKFILL_ABANDONED_REASON = NULL, BACKFILL_CLAIM_UNTIL = NULL, UPDATED_AT = p_now
    WHERE MSG_ID = p_msg_id;
END
$$;

-- p_whitelist: pairs of code and reason (null: any); empty lets any code in.
CREATE FUNCTION msgx.REPLAY(
    p_ids bigint[], p_whitelist jsonb, p_actor text, p_why text, p_now timestamptz
) RETURNS TABLE (TARGET bigint, REFUSED text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id bigint;
    v_row msgx.PROC_STATE;
BEGIN
    FOREACH v_id IN ARRAY p_ids LOOP
        SELECT * INTO v_row FROM msgx.PROC_STATE WHERE MSG_ID = v_id FOR UPDATE;
        IF NOT FOUND THEN
            RETURN QUERY SELECT v_id, 'unknown message';
        ELSIF v_row.STATE NOT IN ('FAILED', 'DEAD') THEN
            RETURN QUERY SELECT v_id, 'state is ' || v_row.STATE;
        ELSIF jsonb_array_length(p_whitelist) > 0 AND NOT EXISTS (
            SELECT 1 FROM jsonb_array_elements(p_whitelist) AS W (pair)
            WHERE W.pair ->> 0 = v_row.ERROR_CODE AND (W.pair ->> 1 IS NULL OR W.pair ->> 1 = v_row.REASON)
        ) THEN
            RETURN QUERY SELECT v_id, format('%s (%s) is not on the replay whitelist', v_row.ERROR_CODE,
                v_row.REASON);
        ELSIF v_row.BACKFILL_CLAIM_UNTIL > p_now THEN
            RETURN QUERY SELECT v_id, 'its write-back is under way, try again';
        ELSE
            PERFORM msgx.BACK_TO_PENDING(v_id, NULL, p_now);
            PERFORM msgx.AUDIT('replay', v_id, p_actor, p_why,
                concat_ws(' ', v_row.STATE, v_row.ERROR_CODE, v_row.REASON), p_now);
            RETURN QUERY SELECT v_id, NULL::text;
        END IF;
    END LOOP;
END
$$;

-- Under the identity that it wanted, its holder's or that of its own parts, with its id behind (D-24).
CREATE FUNCTION msgx.READMIT(p_msg_id bigint, p_actor text, p_why text, p_now timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_row msgx.PROC_STATE;
    v_wanted text;
BEGIN
    SELECT * INTO v_row FROM msgx.PROC_STATE WHERE MSG_ID = p_msg_id FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'unknown message';
    ELSIF v_row.STATE <> 'SKIPPED' OR NOT starts_with(COALESCE(v_row.REASON, ''), 'duplicate-of:') THEN
        RETURN 'it was not skipped as a duplicate';
    ELSIF v_row.BACKFILL_CLAIM_UNTIL > p_now THEN
        RETURN 'its write-back is under way, try again';
    END IF;
    SELECT IDENTITY_KEY INTO v_wanted FROM msgx.PROC_STATE
    WHERE MSG_ID = substring(v_row.REASON FROM '^duplicate-of:([0-9]{1,18})$')::bigint;
    v_wanted := COALESCE(v_wanted, concat(v_row.SNDR, '|', v_row.TYPE, '|', v_row.STYP, '|', v_row.SEQN));
    PERFORM msgx.BACK_TO_PENDING(p_msg_id, v_wanted || '#' || p_msg_id, p_now);
    PERFORM msgx.AUDIT('readmit', p_msg_id, p_actor, p_why, v_row.REASON, p_now);
    RETURN NULL;
END
$$;

CREATE FUNCTION msgx.RESUME_WRITEBACKS(p_ids bigint[], p_actor text, p_why text, p_now timestamptz)
RETURNS TABLE (TARGET bigint, REFUSED text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id bigint;
BEGIN
    FOREACH v_id IN ARRAY COALESCE(p_ids, ARRAY(
        SELECT MSG_ID FROM msgx.PROC_STATE WHERE BACKFILL_ABANDONED_AT IS NOT NULL AND BACKFILL_AT IS NULL
        ORDER BY MSG_ID
    )) LOOP
        UPDATE msgx.PROC_STATE SET BACKFILL_ABANDONED_AT = NULL, BACKFILL_ABANDONED_REASON = NULL,
            BACKFILL_NEXT_AT = p_now, UPDATED_AT = p_now
        WHERE MSG_ID = v_id AND STATE IN ('SUCCEEDED', 'SKIPPED', 'DEAD') AND BACKFILL_AT IS NULL
            AND BACKFILL_ABANDONED_AT IS NOT NULL;
        IF FOUND THEN
            PERFORM msgx.AUDIT('resume_writeback', v_id, p_actor, p_why, NULL, p_now);
            RETURN QUERY SELECT v_id, NULL::text;
        ELSE
            RETURN QUERY SELECT v_id, 'not abandoned';
        END IF;
    END LOOP;
END
$$;

-- p_status PENDING starts a dead event over, DISCARDED takes note of it. Without p_target both topics are meant.
CREATE FUNCTION msgx.REVIVE_EVENTS(
    p_ids bigint[], p_status text, p_target text, p_actor text, p_why text, p_now timestamptz
) RETURNS TABLE (TARGET bigint, REFUSED text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id bigint;
BEGIN
    FOREACH v_id IN ARRAY p_ids LOOP
        UPDATE msgx.MSG_EVENT E SET STATUS = p_status, UPDATED_AT = p_now,
            ATTEMPTS = CASE p_status WHEN 'PENDING' THEN 0 ELSE E.ATTEMPTS END,
            NEXT_ATTEMPT_AT = CASE p_status WHEN 'PENDING' THEN NULL ELSE E.NEXT_ATTEMPT_AT END
        WHERE E.EVENT_ID = v_id AND E.STATUS = 'DEAD' AND E.TARGET = COALESCE(p_target, E.TARGET);
        IF FOUND THEN
            PERFORM msgx.AUDIT(CASE p_status WHEN 'PENDING' THEN 'requeue_event' ELSE 'discard_event' END, v_id,
                p_actor, p_why, p_target, p_now);
            RETURN QUERY SELECT v_id, NULL::text;
        ELSE
            RETURN QUERY SELECT v_id, 'no dead event';
        END IF;
    END LOOP;
END
$$;

CREATE FUNCTION msgx.ACKNOWLEDGE(p_ids bigint[], p_actor text, p_why text, p_now timestamptz)
RETURNS TABLE (TARGET bigint, REFUSED text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_id bigint;
BEGIN
    FOREACH v_id IN ARRAY p_ids LOOP
        UPDATE msgx.OPS_ALERT SET ACKED_AT = p_now WHERE ALERT_ID = v_id AND ACKED_AT IS NULL;
        IF FOUND THEN
            PERFORM msgx.AUDIT('acknowledge', v_id, p_actor, p_why, NULL, p_now);
            RETURN QUERY SELECT v_id, NULL::text;
        ELSE
            RETURN QUERY SELECT v_id, 'no open alert';
        END IF;
    END LOOP;
END
$$;

-- In place of the open request of its slot, unless that is being answered (D-32).
CREATE FUNCTION msgx.CREATE_REQUEST(
    p_slot text, p_seqn text, p_rtype text, p_first_day date, p_last_day date, p_created_at timestamptz,
    p_actor text, p_why text, p_now timestamptz
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_open msgx.REQ_TRACK;
    v_id bigint;
BEGIN
    SELECT * INTO v_open FROM msgx.REQ_TRACK WHERE SLOT = p_slot AND STATE IN ('PENDING', 'SENT') FOR UPDATE;
    IF v_open.RESP_MSG_ID IS NOT NULL THEN
        PERFORM msgx.CONFLICT(format('request %s is being answered by message %s', v_open.REQUEST_ID,
            v_open.RESP_MSG_ID));
    END IF;
    UPDATE msgx.REQ_TRACK SET STATE = 'EXPIRED', REASON = 'replaced', CLOSED_AT = p_now, UPDATED_AT = p_now
    WHERE REQUEST_ID = v_open.REQUEST_ID;
    INSERT INTO msgx.REQ_TRACK (SLOT, STATE, SEQN, RTYPE, FIRST_DAY, LAST_DAY, CREATED_AT, UPDATED_AT)
    VALUES (p_slot, 'PENDING', p_seqn, p_rtype, p_first_day, p_last_day, p_created_at, p_now)
    RETURNING REQUEST_ID INTO v_id;
    PERFORM msgx.AUDIT('create_request', v_id, p_actor, p_why,
        'replaces request ' || v_open.REQUEST_ID, p_now);
    RETURN v_id;
END
$$;
