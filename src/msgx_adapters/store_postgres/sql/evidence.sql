-- What verification reads, and texts that are put back from the archive (D-36).

-- name: applied
SELECT MSG_ID, APPLY_NO, APPLIED_AT, COVERAGE, TYPE, STYP, RAW_DIGEST, RECEIVED_AT, ENQUEUED_AT
FROM msgx.PROC_STATE WHERE APPLY_NO > :after ORDER BY APPLY_NO LIMIT :limit;

-- name: floors
SELECT FLID, STATE_VERSION, UPDATED_AT FROM msgx.FLIGHT_VERSION_FLOOR
WHERE :flid::bigint IS NULL OR FLID = :flid ORDER BY FLID;

-- name: pins
SELECT NAME, VALUE FROM msgx.STORE_INFO WHERE NAME LIKE 'pin.%' ORDER BY NAME;

-- The same as BACK_TO_PENDING, with the text's place in COVERAGE.
-- name: replay_from_archive
WITH W AS (
    SELECT R.n, R.id, R.grounds FROM jsonb_to_recordset(:wanted::jsonb) AS R (n integer, id bigint, grounds text)
), U AS (
    UPDATE msgx.PROC_STATE P SET STATE = 'PENDING', COVERAGE = W.grounds, ATTEMPTS = 0, NEXT_ATTEMPT_AT = NULL,
        ERROR_CODE = NULL, REASON = NULL, DETAIL = NULL, TRYING = FALSE, FINISHED_AT = NULL,
        BACKFILL_NEXT_AT = NULL, BACKFILL_ATTEMPTS = 0, BACKFILL_ABANDONED_AT = NULL,
        BACKFILL_ABANDONED_REASON = NULL, BACKFILL_CLAIM_UNTIL = NULL, UPDATED_AT = :now::timestamptz
    FROM W
    WHERE P.MSG_ID = W.id AND P.APPLIED_AT IS NULL
        AND (P.STATE = 'DEAD' AND P.ERROR_CODE = 'MALFORMED' AND P.REASON = 'raw-missing'
            OR P.STATE = 'PENDING' AND P.ATTEMPTS = 0)
        AND (P.BACKFILL_CLAIM_UNTIL IS NULL OR P.BACKFILL_CLAIM_UNTIL <= :now::timestamptz)
    RETURNING P.MSG_ID, P.COVERAGE
), A AS (
    INSERT INTO msgx.OPS_AUDIT (ACTION, TARGET, ACTOR, REASON, DETAIL, CREATED_AT)
    SELECT 'replay', U.MSG_ID, :actor::text, :why::text, 'from archive ' || U.COVERAGE, :now::timestamptz
    FROM U ORDER BY U.MSG_ID
)
SELECT W.id AS TARGET, CASE WHEN U.MSG_ID IS NULL
    THEN 'it is not DEAD raw-missing, or its write-back is under way' END AS REFUSED
FROM W LEFT JOIN U ON U.MSG_ID = W.id ORDER BY W.n;
