-- The queue of an endpoint, which was called its lane.
grant select on webhooks.endpoint_queues to quittance_auditor;
