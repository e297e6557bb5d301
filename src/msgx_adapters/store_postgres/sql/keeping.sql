-- Facts about the store itself.

-- name: info
SELECT VALUE FROM msgx.STORE_INFO WHERE NAME = :name;

-- name: put_info
INSERT INTO msgx.STORE_INFO (NAME, VALUE) VALUES (:name, :value) ON CONFLICT (NAME) DO NOTHING;

-- name: ping
SELECT EPOCH FROM msgx.PIPELINE_LOCK;
