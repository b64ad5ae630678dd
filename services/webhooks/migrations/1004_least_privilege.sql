-- The log of events and of attempts is written, never rewritten; what belongs to it stays.
revoke update, delete on events from quittance_webhooks;
revoke delete on accounts, attempts, deliveries, endpoints from quittance_webhooks;
revoke update on endpoint_secrets from quittance_webhooks;
