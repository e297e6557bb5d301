-- Write-back intents (IMP §6). Each update is for terminal rows without BACKFILL_AT only (H-28).

-- name: claim_writebacks
SELECT * FROM msgx.CLAIM_WRITEBACKS(:epoch, :now, :overdue_before, :limit, :claim_until)
ORDER BY BACKFILL_ATTEMPTS, MSG_ID;

-- name: writebacks_done
SELECT msgx.WRITEBACKS_DONE(:epoch, :ids, :now);

-- name: writeback_retry
SELECT msgx.WRITEBACK_RETRY(:epoch, :msg_id, :next_at, :alerts, :now);

-- name: writeback_abandon
SELECT msgx.WRITEBACK_ABANDON(:epoch, :msg_id, :reason, :alerts, :now);

-- name: release_claims
SELECT msgx.RELEASE_CLAIMS(:epoch, :ids);
