-- What waits for an endpoint that has no lane any more is cancelled bit by bit; only without that it is forgotten.
grant select (has_deliveries_to_cancel) on webhooks.endpoints to quittance_auditor;
