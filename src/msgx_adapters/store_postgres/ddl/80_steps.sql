-- Steps 1 and 3 (D-01): one call is one transaction.

CREATE FUNCTION msgx.APPLY(
    p_epoch bigint, p_expiry_s double precision, p_msg_id bigint, p_at timestamptz, p_coverage text,
    p_reason text, p_detail text, p_touched bigint[],
    p_new jsonb, p_new_tags text[], p_old jsonb, p_old_tags text[],
    p_same bigint[], p_same_versions bigint[], p_same_last bigint[],
    p_notice_flids bigint[], p_notice_versions bigint[], p_notices json[],
    p_document_flids bigint[], p_document_versions bigint[], p_documents json[], p_gone bigint[],
    p_rest jsonb
) RETURNS bigint LANGUAGE plpgsql {{plans}} AS $$
DECLARE
    v_epoch bigint;
    v_apply_no bigint;
    v_msg bigint;
    v_schd bigint;
BEGIN
    SELECT EPOCH INTO v_epoch FROM msgx.PIPELINE_LOCK FOR UPDATE;
    IF v_epoch <> p_epoch THEN
        PERFORM msgx.FENCED(v_epoch);
    END IF;
    -- Event ids come from rows, not sequences: consecutive, and in commit order (D-27).
    WITH C AS (
        UPDATE msgx.COUNTERS SET VALUE = VALUE + CASE NAME WHEN 'event_msg' THEN cardinality(p_notice_flids)
            WHEN 'event_schd' THEN cardinality(p_document_flids) ELSE 1 END
        WHERE NAME IN ('event_msg', 'event_schd', 'apply_no')
        RETURNING NAME, VALUE
    )
    SELECT MAX(VALUE) FILTER (WHERE NAME = 'apply_no'), MAX(VALUE) FILTER (WHERE NAME = 'event_msg'),
        MAX(VALUE) FILTER (WHERE NAME = 'event_schd')
    INTO v_apply_no, v_msg, v_schd FROM C;
    UPDATE msgx.PROC_STATE SET APPLIED_AT = p_at, COVERAGE = p_coverage, REASON = p_reason, DETAIL = p_detail,
        ERROR_CODE = NULL, OUTCOME_REASON = p_reason, OUTCOME_DETAIL = p_detail, APPLY_NO = v_apply_no,
        TOUCHED = p_touched, UPDATED_AT = p_at, EPOCH = p_epoch
    WHERE MSG_ID = p_msg_id AND APPLIED_AT IS NULL AND STATE IN ('PENDING', 'FAILED');
    IF NOT FOUND THEN
        PERFORM msgx.CONFLICT('the message is applied or finished already');
    END IF;
    IF p_new IS NOT NULL THEN
        PERFORM msgx.INSERT_FLIGHTS(p_epoch, p_new, p_new_tags);
    END IF;
    IF p_old IS NOT NULL THEN
        PERFORM msgx.UPDATE_FLIGHTS(p_epoch, p_old, p_old_tags);
    END IF;
    IF p_same IS NOT NULL THEN
        PERFORM msgx.TOUCH_FLIGHTS(p_epoch, p_same, p_same_versions, p_same_last);
    END IF;
    IF p_notices IS NOT NULL THEN
        PERFORM msgx.INSERT_NOTICES(p_epoch, p_msg_id, p_at, v_msg - cardinality(p_notice_flids),
            p_notice_flids, p_notice_versions, p_notices);
    END IF;
    IF p_gone IS NOT NULL THEN
        DELETE FROM msgx.MSG_EVENT WHERE TARGET = 'KAFKA:schd' AND FLID = ANY (p_gone);
    END IF;
    IF p_documents IS NOT NULL THEN
        PERFORM msgx.PUT_DOCUMENTS(p_epoch, p_msg_id, p_at, v_schd - cardinality(p_document_flids),
            p_document_flids, p_document_versions, p_documents);
    END IF;
    IF p_rest IS NOT NULL THEN
        PERFORM msgx.APPLY_REST(p_epoch, p_msg_id, p_at, p_rest);
    END IF;
    -- A holder that has just written is alive.
    UPDATE msgx.LEASE SET EXPIRES_AT = clock_timestamp() + make_interval(secs => p_expiry_s);
    RETURN v_apply_no;
END
$$;

CREATE FUNCTION msgx.FINISH(p_epoch bigint, p_msg_id bigint, p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql {{plans}} AS $$
DECLARE
    v_epoch bigint;
BEGIN
    SELECT EPOCH INTO v_epoch FROM msgx.PIPELINE_LOCK FOR UPDATE;
    IF v_epoch <> p_epoch THEN
        PERFORM msgx.FENCED(v_epoch);
    END IF;
    UPDATE msgx.PROC_STATE SET STATE = 'SUCCEEDED', ERROR_CODE = NULL, REASON = OUTCOME_REASON,
        DETAIL = OUTCOME_DETAIL, NEXT_ATTEMPT_AT = NULL, TRYING = FALSE, FINISHED_AT = p_now,
        BACKFILL_NEXT_AT = CASE WHEN BACKFILL_AT IS NULL THEN p_now END, UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE MSG_ID = p_msg_id AND STATE IN ('PENDING', 'FAILED') AND APPLIED_AT IS NOT NULL;
    IF NOT FOUND THEN
        RETURN FALSE;
    END IF;
    UPDATE msgx.REQ_TRACK SET STATE = 'DONE', CLOSED_AT = p_now, UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE RESP_MSG_ID = p_msg_id AND STATE IN ('PENDING', 'SENT');
    RETURN TRUE;
END
$$;

-- What a decision sees, in one snapshot: a stable function reads all of it as of its call (R-464).
CREATE FUNCTION msgx.READ(
    p_flids bigint[], p_maids bigint[], p_roster_days date[], p_days date[], p_first timestamptz,
    p_last timestamptz, p_sndr text
) RETURNS TABLE (
    PART text, FLID bigint, STATE text, STATE_VERSION bigint, OPERATION_DAY date, SODT_AT timestamptz,
    LAST_MSG_ID bigint, CREATED_AT timestamptz, UPDATED_AT timestamptz, TAG_ORDER text, GENERATION bigint,
    CONTENT json
) LANGUAGE plpgsql STABLE ROWS 10 {{plans}} AS $$
#variable_conflict use_column
DECLARE
    v_asked bigint[] := p_flids;
    v_found bigint[];
    v_wanted bigint[];
    v_rows bigint;
BEGIN
    IF p_roster_days IS NOT NULL THEN
        v_found := ARRAY(SELECT R.FLID FROM msgx.SCHD_GEN_FLID R WHERE R.OPERATION_DAY = ANY (p_roster_days));
        v_asked := v_asked || v_found;
        RETURN QUERY SELECT 'member', R.FLID, NULL::text, NULL::bigint, R.OPERATION_DAY, NULL::timestamptz,
            NULL::bigint, NULL::timestamptz, NULL::timestamptz, NULL::text, NULL::bigint, NULL::json
        FROM msgx.SCHD_GEN_FLID R WHERE R.OPERATION_DAY = ANY (p_roster_days);
    END IF;
    IF p_first IS NOT NULL THEN
        v_found := ARRAY(
            SELECT F.FLID FROM msgx.FLIGHT_SCHD F WHERE F.STATE = 'ACTIVE' AND F.SODT_AT BETWEEN p_first AND p_last
        );
        v_asked := v_asked || v_found;
        RETURN QUERY SELECT 'interval', I.flid, NULL::text, NULL::bigint, NULL::date, NULL::timestamptz,
            NULL::bigint, NULL::timestamptz, NULL::timestamptz, NULL::text, NULL::bigint, NULL::json
        FROM unnest(v_found) AS I (flid);
    END IF;
    IF p_days IS NOT NULL THEN
        RETURN QUERY SELECT 'generation', NULL::bigint, NULL::text, NULL::bigint, G.OPERATION_DAY,
            NULL::timestamptz, NULL::bigint, NULL::timestamptz, NULL::timestamptz, NULL::text, G.VERSION, NULL::json
        FROM msgx.SCHD_GEN G WHERE G.OPERATION_DAY = ANY (p_days);
    END IF;
    IF cardinality(v_asked) + cardinality(p_maids) > 0 THEN
        -- The main flights of what is asked for, and every live child of any of these.
        v_wanted := ARRAY(
            WITH RECURSIVE W (FLID) AS (
                (
                    SELECT A.flid FROM unnest(v_asked || p_maids) AS A (flid)
                    UNION
                    SELECT F.MAID FROM msgx.FLIGHT_SCHD F WHERE F.FLID = ANY (v_asked) AND F.MAID IS NOT NULL
                )
                UNION
                SELECT C.FLID FROM W JOIN msgx.FLIGHT_SCHD C ON C.MAID = W.FLID WHERE C.STATE = 'ACTIVE'
            )
            SELECT FLID FROM W
        );
        RETURN QUERY SELECT 'flight', F.FLID, F.STATE, F.STATE_VERSION, F.OPERATION_DAY, F.SODT_AT,
            F.LAST_MSG_ID, F.CREATED_AT, F.UPDATED_AT, F.TAG_ORDER, G.VERSION, F.CONTENT
        FROM msgx.FLIGHT_FULL F LEFT JOIN msgx.SCHD_GEN G ON G.OPERATION_DAY = F.OPERATION_DAY
        WHERE F.FLID = ANY (v_wanted);
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        IF v_rows < cardinality(v_wanted) THEN
            RETURN QUERY SELECT 'floor', V.FLID, NULL::text, V.STATE_VERSION, NULL::date, NULL::timestamptz,
                NULL::bigint, NULL::timestamptz, NULL::timestamptz, NULL::text, NULL::bigint, NULL::json
            FROM msgx.FLIGHT_VERSION_FLOOR V
            WHERE V.FLID = ANY (v_asked)
                AND NOT EXISTS (SELECT 1 FROM msgx.FLIGHT_SCHD F WHERE F.FLID = V.FLID);
        END IF;
    END IF;
    IF p_sndr IS NOT NULL THEN
        RETURN QUERY SELECT 'sender', NULL::bigint, NULL::text, NULL::bigint, NULL::date, NULL::timestamptz,
            NULL::bigint, NULL::timestamptz, NULL::timestamptz, NULL::text, NULL::bigint, row_to_json(S)
        FROM msgx.SENDER_MARK S WHERE S.SNDR = p_sndr;
    END IF;
END
$$;
