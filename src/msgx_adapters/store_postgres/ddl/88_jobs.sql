-- What people leave for the lease holder (D-34). Theirs carries no epoch; the holder's are fenced.

-- The pending job of that kind, or a new one.
CREATE FUNCTION msgx.ASK_JOB(p_kind text, p_actor text, p_why text, p_now timestamptz)
RETURNS TABLE (JOB_ID bigint, CREATED_AT timestamptz, JOINED boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_job msgx.OPS_JOB;
    v_joined boolean := FALSE;
BEGIN
    LOOP
        INSERT INTO msgx.OPS_JOB (KIND, STATE, CREATED_AT, UPDATED_AT) VALUES (p_kind, 'PENDING', p_now, p_now)
        ON CONFLICT (KIND) WHERE STATE = 'PENDING' DO NOTHING
        RETURNING * INTO v_job;
        EXIT WHEN FOUND;
        SELECT * INTO v_job FROM msgx.OPS_JOB WHERE KIND = p_kind AND STATE = 'PENDING' FOR UPDATE;
        v_joined := FOUND;
        EXIT WHEN v_joined;
    END LOOP;
    PERFORM msgx.AUDIT('ask_job', v_job.JOB_ID, p_actor, p_why, p_kind, p_now);
    RETURN QUERY SELECT v_job.JOB_ID, v_job.CREATED_AT, v_joined;
END
$$;

CREATE FUNCTION msgx.START_JOB(p_epoch bigint, p_job_id bigint, p_now timestamptz)
RETURNS SETOF msgx.OPS_JOB LANGUAGE plpgsql AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    RETURN QUERY UPDATE msgx.OPS_JOB SET STATE = 'RUNNING', STARTED_AT = COALESCE(STARTED_AT, p_now),
        UPDATED_AT = p_now, EPOCH = p_epoch
    WHERE JOB_ID = p_job_id AND STATE IN ('PENDING', 'RUNNING')
    RETURNING *;
END
$$;

CREATE FUNCTION msgx.NOTE_JOB(p_epoch bigint, p_job_id bigint, p_detail text, p_counts jsonb, p_now timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    UPDATE msgx.OPS_JOB SET DETAIL = p_detail, COUNTS = p_counts, UPDATED_AT = p_now
    WHERE JOB_ID = p_job_id AND STATE = 'RUNNING' AND EPOCH = p_epoch;
    RETURN FOUND;
END
$$;

CREATE FUNCTION msgx.END_JOB(
    p_epoch bigint, p_job_id bigint, p_state text, p_detail text, p_counts jsonb, p_now timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM msgx.FENCE(p_epoch);
    UPDATE msgx.OPS_JOB SET STATE = p_state, DETAIL = p_detail, COUNTS = p_counts, ENDED_AT = p_now,
        UPDATED_AT = p_now
    WHERE JOB_ID = p_job_id AND STATE = 'RUNNING' AND EPOCH = p_epoch;
    RETURN FOUND;
END
$$;
