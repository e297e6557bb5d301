-- Pieces that are repeated for each tag or category.

-- name: detail_table
CREATE TABLE msgx.{table} (
    FLID bigint NOT NULL,{kind_column}
    ORDINAL integer NOT NULL,
    SOURCE_SEQ text,
{columns}
    PRIMARY KEY (FLID, {kind_key}ORDINAL)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- name: detail_fields
        (SELECT json_agg(json_build_object({pairs}))
            FROM (SELECT * FROM msgx.{table} D WHERE D.FLID = F.FLID{and_kind} ORDER BY D.ORDINAL) D) AS "{tag}"

-- name: detail_insert
    IF '{tag}' = ANY (p_tags) THEN
        INSERT INTO msgx.{table} (FLID, {kind_key}ORDINAL, {names})
        SELECT P.flid, {kind_value}E.n, {values}
        FROM jsonb_to_recordset(p_flights) AS P (flid bigint, "{tag}" jsonb)
        CROSS JOIN LATERAL ROWS FROM (jsonb_to_recordset(P."{tag}") AS ({typed_keys}))
            WITH ORDINALITY AS E ({keys}, n);
    END IF;

-- The kind is no condition for an index here: a plan made before there are statistics would use it alone.
-- name: detail_replace
    IF '{tag}' = ANY (p_tags) THEN
        DELETE FROM msgx.{table} D
        USING jsonb_to_recordset(p_flights) AS P (flid bigint, "{tag}" jsonb)
        WHERE D.FLID = P.flid{and_kind_unindexed} AND D.ORDINAL > jsonb_array_length(P."{tag}");
        INSERT INTO msgx.{table} AS D (FLID, {kind_key}ORDINAL, {names})
        SELECT P.flid, {kind_value}E.n, {values}
        FROM jsonb_to_recordset(p_flights) AS P (flid bigint, "{tag}" jsonb)
        CROSS JOIN LATERAL ROWS FROM (jsonb_to_recordset(P."{tag}") AS ({typed_keys}))
            WITH ORDINALITY AS E ({keys}, n)
        ON CONFLICT (FLID, {kind_key}ORDINAL) DO UPDATE SET ({names}) = ROW ({excluded})
        WHERE ({stored}) IS DISTINCT FROM ({excluded});
    END IF;

-- name: detail_clear
    DELETE FROM msgx.{table} WHERE FLID = ANY (p_flids);

-- Rows without a flight, and collections whose places have gaps.
-- name: detail_strays
SELECT D.FLID, {kind_or_null} AS KIND, COUNT(*) AS N, MIN(D.ORDINAL) AS FIRST, MAX(D.ORDINAL) AS LAST,
    F.FLID IS NULL AS IS_LOST
FROM msgx.{table} D LEFT JOIN msgx.FLIGHT_SCHD F ON F.FLID = D.FLID
GROUP BY D.FLID, F.FLID, KIND
HAVING F.FLID IS NULL OR (MIN(D.ORDINAL), MAX(D.ORDINAL)) IS DISTINCT FROM (1, COUNT(*))
ORDER BY D.FLID, KIND;

-- name: reference_table
CREATE TABLE msgx.REF_{rtype} (
    RKEY text COLLATE "C" NOT NULL PRIMARY KEY,{extra}
    PAYLOAD jsonb NOT NULL,
    ORDINAL integer NOT NULL,
    MSG_ID bigint NOT NULL,
    UPDATED_AT timestamptz NOT NULL
);

-- name: reference_status
    RTYP text GENERATED ALWAYS AS (split_part(RKEY, '/', 1)) STORED,
    RSID text GENERATED ALWAYS AS (substr(RKEY, length(split_part(RKEY, '/', 1)) + 2)) STORED,

-- name: reference_part
SELECT '{rtype}'::text AS RTYPE, RKEY, PAYLOAD, ORDINAL, MSG_ID, UPDATED_AT FROM msgx.REF_{rtype}

-- name: detail_comments
COMMENT ON TABLE msgx.{table} IS '{title}';
COMMENT ON COLUMN msgx.{table}.FLID IS 'Flight.';
COMMENT ON COLUMN msgx.{table}.ORDINAL IS 'Place in the collection, from 1.';
COMMENT ON COLUMN msgx.{table}.SOURCE_SEQ IS 'Number that upstream gave it{sequence}; may repeat or be missing.'

-- name: kind_comment
COMMENT ON COLUMN msgx.{table}.ROUTE_KIND IS 'Which of the two collections: ROUT or ERUT.'

-- name: column_comment
COMMENT ON COLUMN msgx.{table}.{column} IS '{text}'

-- name: reference_comments
COMMENT ON TABLE msgx.REF_{rtype} IS 'Reference data: {meaning}.';
COMMENT ON COLUMN msgx.REF_{rtype}.RKEY IS 'Key of the record: {key}.';
COMMENT ON COLUMN msgx.REF_{rtype}.PAYLOAD IS 'The whole record as nested arrays of tag, text, attributes, children.';
COMMENT ON COLUMN msgx.REF_{rtype}.ORDINAL IS 'Place in the list.';
COMMENT ON COLUMN msgx.REF_{rtype}.MSG_ID IS 'Message that wrote it last.';
COMMENT ON COLUMN msgx.REF_{rtype}.UPDATED_AT IS 'Last change.'
