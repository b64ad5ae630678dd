-- What a disabled endpoint has missed begins before it was disabled: what waited then was cancelled, and what was tried for days
-- was given up. When the oldest event happened of which an attempt has failed since the endpoint's last success:
alter table lanes add column missed_since timestamptz;
grant update (missed_since) on lanes to quittance_webhooks;
-- What is left of its lane when it is disabled. `failing_since` is null again when it is enabled; `missed_since` stays, for the
-- replay that comes after that: it is an hour earlier than anything that was missed.
alter table endpoints add column failing_since timestamptz;
alter table endpoints add column missed_since timestamptz;
grant update (failing_since, missed_since) on endpoints to quittance_webhooks;

-- Nobody has noted it so far. It fails for five days before it is disabled, and what fails first may have been tried for four.
update lanes set missed_since = failing_since - interval '4 days' where failing_since is not null;
update endpoints set missed_since = disabled_at - interval '9 days' where disabled_at is not null;
