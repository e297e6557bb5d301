-- The lease and the epoch (D-34). The clock is the database's.

-- name: acquire_lease
SELECT * FROM msgx.ACQUIRE_LEASE(:holder, :expiry_s, :epoch);

-- name: renew_lease
SELECT msgx.RENEW_LEASE(:epoch, :expiry_s);

-- name: release_lease
UPDATE msgx.LEASE SET HOLDER = NULL, EXPIRES_AT = clock_timestamp() WHERE EPOCH = :epoch;

-- name: lease
SELECT L.HOLDER, P.EPOCH,
    EXTRACT(EPOCH FROM L.EXPIRES_AT - clock_timestamp())::double precision AS EXPIRES_IN_S
FROM msgx.LEASE L CROSS JOIN msgx.PIPELINE_LOCK P;
