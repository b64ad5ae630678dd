-- A receiver that answers 429 or 503 with Retry-After is left alone until then, whatever is due. Until something has
-- arrived again it is sent one at a time. Always true, outside of a transaction that holds the lane's lock: neither of its
-- two due_at is earlier.
alter table lanes add column paused_until timestamptz;
grant update (paused_until) on lanes to quittance_webhooks;
