-- Facts about the store itself.

-- name: info
SELECT VALUE FROM msgx.STORE_INFO WHERE NAME = :name;

-- name: put_info
INSERT INTO msgx.STORE_INFO (NAME, VALUE) VALUES (:name, :value) ON CONFLICT (NAME) DO NOTHING;

-- name: ping
SELECT L.EPOCH, current_setting('transaction_read_only') = 'on' AS IS_READ_ONLY, (
    SELECT string_agg(C.relname, ', ' ORDER BY C.relname) FROM pg_class C
    WHERE C.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'msgx.pipeline_lock'::regclass)
        AND C.relkind = 'r' AND C.relname <> 'alembic_version'
        AND NOT (
            has_table_privilege(C.oid, 'SELECT') AND has_table_privilege(C.oid, 'INSERT')
            AND has_table_privilege(C.oid, 'UPDATE') AND has_table_privilege(C.oid, 'DELETE')
        )
) AS NOT_OURS, (
    SELECT string_agg(N.name, ', ' ORDER BY N.name) FROM unnest(:relations::text[]) AS N (name)
    WHERE NOT EXISTS (
        SELECT 1 FROM pg_class C WHERE C.relname = N.name
            AND C.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'msgx.pipeline_lock'::regclass)
    )
) AS MISSING
FROM msgx.PIPELINE_LOCK L;
