-- Plain names: an event that its receiver failed to process is a dead letter.
alter table parked rename to dead_letters;
alter table dead_letters rename column parked_at to failed_at;
alter index parked_pkey rename to dead_letters_pkey;
alter table outbox rename column parked_by to dead_lettered_by;

-- Old events that an operator has found not to be processed: each is processed when it comes once more, and leaves this table.
alter table inbox_admitted rename to inbox_exceptions;
alter index inbox_admitted_pkey rename to inbox_exceptions_pkey;
