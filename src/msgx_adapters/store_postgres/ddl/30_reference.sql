-- Reference data: a table per category and one for resource status, and all of them as one view.
-- PAYLOAD: the whole record as nested arrays of tag, text, attributes, children.

{{reference_tables}}

CREATE VIEW msgx.REF_MASTER AS
{{reference_view}};
