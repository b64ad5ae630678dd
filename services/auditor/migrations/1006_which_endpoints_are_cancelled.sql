-- What waits for an endpoint that has no lane any more is cancelled bit by bit; only without that it is forgotten.
grant select (cancelling) on webhooks.endpoints to quittance_auditor;
