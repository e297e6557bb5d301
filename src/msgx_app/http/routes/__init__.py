"""The operations of the HTTP interface, by what they are about."""
