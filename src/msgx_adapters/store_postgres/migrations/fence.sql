-- Before an upgrade: one at a time, from the revision it is for, not beside a running msgx. The epoch rises, so
-- that an instance that sleeps through it is fenced afterwards; who held the lease stays known.
DO $$
DECLARE
    v_found text;
    v_holder text;
    v_epoch bigint;
BEGIN
    PERFORM {{lock}};
    SELECT version_num INTO v_found FROM "{{schema}}".alembic_version;
    IF v_found IS DISTINCT FROM '{{since}}' THEN
        RAISE EXCEPTION 'the store is at revision %, this is for {{since}}', v_found USING ERRCODE = 'MX004';
    END IF;
    SELECT EPOCH INTO STRICT v_epoch FROM "{{schema}}".PIPELINE_LOCK FOR UPDATE;
    SELECT HOLDER INTO v_holder FROM "{{schema}}".LEASE
    WHERE HOLDER IS NOT NULL AND EXPIRES_AT > clock_timestamp() FOR UPDATE;
    IF FOUND THEN
        RAISE EXCEPTION 'the store is in use by %: stop msgx first', v_holder
            USING ERRCODE = 'MX003', DETAIL = v_holder;
    END IF;
    UPDATE "{{schema}}".PIPELINE_LOCK SET EPOCH = v_epoch + 1;
    UPDATE "{{schema}}".LEASE SET EPOCH = v_epoch + 1;
END
$$;
