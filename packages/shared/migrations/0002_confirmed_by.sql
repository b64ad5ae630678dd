-- Which receivers are known to have it: confirmed once all of its kind's are, so one that is away holds up no other.
alter table outbox add column confirmed_by text[] not null default '{}';
