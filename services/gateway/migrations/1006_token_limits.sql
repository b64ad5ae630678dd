-- What a token may do, from where, and which token it replaced. Null: everything, from everywhere, none.
alter table tokens
  add column scopes text[] constraint tokens_scopes_named check (scopes <> '{}'),
  add column allowed_ips cidr[] constraint tokens_allowed_ips_named check (allowed_ips <> '{}'),
  add column last_used_ip inet,
  -- Two tokens that both replace one would leave its owner with one that nobody watches.
  add column replaces text constraint tokens_replaced_once unique references tokens (id),
  -- The Idempotency-Key of the request that created it. The answer has a secret, so it is stored nowhere.
  add column idempotency_key text,
  add constraint tokens_idempotency_once unique (account_id, idempotency_key);

-- Whoever takes the gateway over cannot give a token that exists more than it has, nor another hash or account.
revoke update on tokens from quittance_gateway;
grant update (last_used_at, last_used_ip, expires_at, revoked_at) on tokens to quittance_gateway;
