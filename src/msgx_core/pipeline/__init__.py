"""Use cases on ports alone: intake, pump, processing, write-back, relays, replay."""
