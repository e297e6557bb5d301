-- Facts about the store itself.

-- name: info
SELECT VALUE FROM STORE_INFO WHERE NAME = :name;

-- name: put_info
INSERT INTO STORE_INFO (NAME, VALUE) VALUES (:name, :value) ON CONFLICT (NAME) DO NOTHING;

-- name: ping
SELECT COUNT(*) FROM PIPELINE_LOCK;

-- name: relations
SELECT name FROM sqlite_master WHERE type IN ('table', 'view');
