-- Who may write (D-34). Own SQLSTATEs: MX001 what was read has changed, MX002 the epoch is over.
-- Locks are taken in one order: PIPELINE_LOCK, then LEASE.

CREATE FUNCTION msgx.FENCED(p_current bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the epoch is over' USING ERRCODE = 'MX002', DETAIL = p_current::text;
END
$$;

CREATE FUNCTION msgx.CONFLICT(p_what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', p_what USING ERRCODE = 'MX001';
END
$$;

-- Beside other writers, but not beside steps 1 and 3 and a takeover.
CREATE FUNCTION msgx.FENCE(p_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_epoch bigint;
BEGIN
    SELECT EPOCH INTO v_epoch FROM msgx.PIPELINE_LOCK FOR SHARE;
    IF v_epoch <> p_epoch THEN
        PERFORM msgx.FENCED(v_epoch);
    END IF;
END
$$;

-- Alone.
CREATE FUNCTION msgx.FENCE_ALONE(p_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_epoch bigint;
BEGIN
    SELECT EPOCH INTO v_epoch FROM msgx.PIPELINE_LOCK FOR UPDATE;
    IF v_epoch <> p_epoch THEN
        PERFORM msgx.FENCED(v_epoch);
    END IF;
END
$$;

-- A live lease of another is left alone without any lock, so that a waiting standby disturbs nobody. Else the
-- lock of the pipeline is awaited, and the lease looked at again: the running step may have extended it.
CREATE FUNCTION msgx.ACQUIRE_LEASE(p_holder text, p_expiry_s double precision, p_own_epoch bigint)
RETURNS TABLE (GRANTED boolean, UNCLEAN boolean, HOLDER text, EPOCH bigint, EXPIRES_IN_S double precision)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    v_lease msgx.LEASE;
    v_epoch bigint;
BEGIN
    SELECT * INTO STRICT v_lease FROM msgx.LEASE;
    IF v_lease.HOLDER IS NULL OR v_lease.HOLDER = p_holder OR v_lease.EXPIRES_AT <= clock_timestamp() THEN
        SELECT EPOCH INTO STRICT v_epoch FROM msgx.PIPELINE_LOCK FOR UPDATE;
        SELECT * INTO STRICT v_lease FROM msgx.LEASE FOR UPDATE;
        IF v_lease.HOLDER IS NULL OR v_lease.HOLDER = p_holder OR v_lease.EXPIRES_AT <= clock_timestamp() THEN
            UPDATE msgx.PIPELINE_LOCK SET EPOCH = v_epoch + 1;
            UPDATE msgx.LEASE SET HOLDER = p_holder, EPOCH = v_epoch + 1,
                EXPIRES_AT = clock_timestamp() + make_interval(secs => p_expiry_s);
            -- A holder that takes its own lease again has not crashed.
            RETURN QUERY SELECT TRUE, v_lease.HOLDER IS NOT NULL AND v_epoch <> p_own_epoch, p_holder,
                v_epoch + 1, p_expiry_s;
            RETURN;
        END IF;
    END IF;
    RETURN QUERY SELECT FALSE, FALSE, v_lease.HOLDER, v_lease.EPOCH,
        EXTRACT(EPOCH FROM v_lease.EXPIRES_AT - clock_timestamp())::double precision;
END
$$;

-- The epoch stands on the lease too, so that renewing never waits for a running step 1.
CREATE FUNCTION msgx.RENEW_LEASE(p_epoch bigint, p_expiry_s double precision) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE msgx.LEASE SET EXPIRES_AT = clock_timestamp() + make_interval(secs => p_expiry_s)
    WHERE EPOCH = p_epoch AND HOLDER IS NOT NULL;
    IF NOT FOUND THEN
        PERFORM msgx.FENCED(EPOCH) FROM msgx.LEASE;
    END IF;
END
$$;
