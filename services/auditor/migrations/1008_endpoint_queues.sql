-- The queue of an endpoint, which was called its lane. The view of that name is for the former release.
grant select on webhooks.endpoint_queues, webhooks.lanes to quittance_auditor;
