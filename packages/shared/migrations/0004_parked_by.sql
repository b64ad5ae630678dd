-- Which receivers have parked it: an operator has it sent again from here, so it is not forgotten before that.
alter table outbox add column parked_by text[] not null default '{}';
