-- The lease and the epoch (D-34). julianday('now') is the store's own clock.

-- name: epoch
SELECT EPOCH FROM PIPELINE_LOCK;

-- name: lease
SELECT L.HOLDER, P.EPOCH,
    L.EXPIRES_UNIX - (julianday('now') - 2440587.5) * 86400.0 AS EXPIRES_IN_S
FROM LEASE L CROSS JOIN PIPELINE_LOCK P;

-- name: raise_epoch
UPDATE PIPELINE_LOCK SET EPOCH = EPOCH + 1 RETURNING EPOCH;

-- name: take_lease
UPDATE LEASE SET HOLDER = :holder,
    EXPIRES_UNIX = (julianday('now') - 2440587.5) * 86400.0 + :expiry_s;

-- name: extend_lease
UPDATE LEASE SET EXPIRES_UNIX = (julianday('now') - 2440587.5) * 86400.0 + :expiry_s
WHERE HOLDER IS NOT NULL;

-- name: release_lease
UPDATE LEASE SET HOLDER = NULL, EXPIRES_UNIX = (julianday('now') - 2440587.5) * 86400.0;
