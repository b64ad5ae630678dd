-- A service's role may do to these what its code does, and no more: what was taken in stays taken in, and what was
-- parked stays until an operator has looked.
do $$
declare
  -- Of this schema: these tables stand in every service's.
  service name := (select nspname from pg_namespace where oid =
    (select relnamespace from pg_class where oid = 'inbox'::regclass));
  role text := quote_ident('quittance_' || service);
begin
  execute 'revoke update, delete on inbox from ' || role;
  execute 'revoke delete on parked, leases from ' || role;
end $$;
