-- What happened before an endpoint was told of its kind may have no delivery to it.
grant select (subscribed_since) on webhooks.endpoints to quittance_auditor;
