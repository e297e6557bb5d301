"""The web console: pages made here and sent whole, for people at any hour."""
