UPDATE {table} SET {text} = :raw WHERE {id} = :msg_id;
