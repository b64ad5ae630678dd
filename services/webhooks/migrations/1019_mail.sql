-- Who receives e-mails about an account. A mail goes to an address only after the code that was sent there was given back.
create table mail_recipients (
  key bigint generated always as identity primary key,
  id text not null constraint mail_recipients_id_once unique,
  account_id text not null,
  address text not null constraint mail_recipients_address_length check (length(address) <= 254),
  kinds text[] not null,
  created_at timestamptz not null,
  -- SHA-256 of the code that was sent last, until when it counts, and how many wrong ones were given since
  code_hash bytea,
  code_expires_at timestamptz,
  wrong_codes int not null default 0,
  confirmed_at timestamptz,
  unsubscribed_at timestamptz,
  paused_at timestamptz,
  paused_reason text,
  -- It is in each mail. Whoever has it can stop the mails to this address, and do nothing else.
  stop_token text not null constraint mail_recipients_stop_token_once unique,
  -- mails that the mail server refused since it took one
  refusals int not null default 0,
  last_sent_at timestamptz,
  last_failure text,
  last_failed_at timestamptz,
  -- When to look for a mail to send; null while nothing waits. Whoever adds a notification or a mail sets it under the lock of the row.
  due_at timestamptz,
  -- the process that sends a mail to it now, and until when: after that it counts as dead
  claim text,
  claimed_until timestamptz
) with (fillfactor = 70);
create unique index mail_recipients_address_once on mail_recipients (account_id, lower(address));
create index mail_recipients_due on mail_recipients (due_at) where due_at is not null;

-- A mail is stored before it is sent, so that each attempt has the same Message-ID.
create table mails (
  key bigint generated always as identity primary key,
  recipient_key bigint not null references mail_recipients (key) on delete cascade,
  id text not null constraint mails_id_once unique,
  type text not null constraint mails_type_known check (type in ('confirmation', 'test', 'notification', 'summary')),
  -- of a notification or a summary: what the hourly limit counts
  topic text,
  state text not null constraint mails_state_known check (state in ('waiting', 'sent', 'failed', 'cancelled')),
  attempts int not null default 0,
  created_at timestamptz not null,
  due_at timestamptz not null,
  ended_at timestamptz,
  failure text
);
create index mails_of_recipient on mails (recipient_key, type, created_at);
create index mails_waiting on mails (recipient_key) where state = 'waiting';
create index mails_created on mails (created_at);

-- What a recipient is told, once for each event. It waits until a mail contains it.
create table mail_notifications (
  recipient_key bigint not null references mail_recipients (key) on delete cascade,
  event_key text not null,
  kind text not null,
  topic text not null,
  happened_at timestamptz not null,
  facts jsonb not null,
  mail_key bigint references mails (key) on delete cascade,
  constraint mail_notifications_event_and_recipient_once primary key (recipient_key, event_key)
);
create index mail_notifications_waiting on mail_notifications (recipient_key, topic, happened_at) where mail_key is null;
create index mail_notifications_of_mail on mail_notifications (mail_key);
create index mail_notifications_happened on mail_notifications (happened_at);

-- Codes that were asked for. It outlives the recipients, so that removing and adding an address again sends no more of them.
create table mail_codes (
  account_id text not null,
  address text not null,
  requested_at timestamptz not null
);
create index mail_codes_of_address on mail_codes (address, requested_at);
create index mail_codes_of_account on mail_codes (account_id, requested_at);
-- It is added to and pruned, never rewritten. Mails end and are not changed into others.
revoke update on mail_codes from quittance_webhooks;
